#include "fleet/guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/spelling.h"
#include "engine/engine_table.h"
#include "engine/file_engine.h"
#include "fleet/file_state.h"
#include "fleet/fleet_plan.h"
#include "fleet/image_state.h"
#include "fleet/object_state.h"
#include "fleet/volumes.h"

namespace cephmark {
namespace {

/// Refusals so far, and whether --allow-write would lift all of them.
struct Refusals {
  std::string text;
  size_t count = 0;
  bool all_liftable = true;
  std::string hint;

  void add(const PlannedTarget& target, const Decision& decision, const StateReport& report) {
    text += fmt::format("\n  {} (job {}, {})", explain(target.text, decision, report),
                        target.job_name, target.source);
    if (count++ == 0) hint = decision.hint;
    all_liftable &= decision.grant_lifts;
  }
};

std::string taint_code(TargetState state) {
  switch (state) {
    case TargetState::kEmptyUntagged:
      return "unwritten-image";
    case TargetState::kOursSnapshots:
      return "snapshots";
    case TargetState::kUnknown:
      return "target-not-examined";
    default:
      return "target-in-use";
  }
}

Action action_of(const PlannedTarget& target) {
  return target.writes ? Action::kWriteJob : Action::kReadJob;
}

bool path_is_granted(const std::vector<std::string>& patterns, const std::string& path,
                     const std::string& resolved) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return pattern_matches(pattern, path) || pattern_matches(pattern, resolved);
  });
}

void guard_path(const Plan& plan, const GuardContext& context, const PlannedTarget& target,
                GuardReport& report, Refusals& refusals) {
  const auto state =
      examine_path(target.text, {target.generated_name, target.job_name, context.file_is_ours});
  const bool granted = path_is_granted(plan.grants.allow_write, target.text, state.resolved);
  const auto decision = decide_all(state.kind, state.report.states(), action_of(target), {granted});
  if (decision.verdict == Verdict::kRefused) return refusals.add(target, decision, state.report);
  if (decision.verdict == Verdict::kTainted)
    report.taints.push_back(
        {taint_code(decision.because), explain(target.text, decision, state.report)});
  if (target.writes) report.writable.insert(target.text);
}

/// Names what may have been meant by images that are missing. One list per pool and namespace.
class SimilarImages {
 public:
  explicit SimilarImages(Cluster& cluster) : cluster_(cluster) {}
  void tell(ImageState& state) {
    const std::string place = state.spec.pool + "/" + state.spec.rados_namespace;
    try {
      if (is_in_trash(cluster_, state.spec)) {
        say(state, "an image of that name is in the trash (rbd trash ls, restore)");
        return;
      }
      const auto [found, fresh] = names_.try_emplace(place);
      if (fresh) found->second = list_images(cluster_, state.spec.pool, state.spec.rados_namespace);
      say(state, what_is_wrong(state.spec, found->second));
    } catch (const Error&) {
      // The key may not list the pool: then there is nothing to suggest.
    }
  }

 private:
  static void say(ImageState& state, const std::string& words) {
    if (words.empty()) return;
    for (auto& finding : state.report.findings)
      if (finding.state == TargetState::kMissing) finding.detail = words;
  }

  std::string what_is_wrong(const ImageSpec& spec, const std::vector<std::string>& names) {
    const bool is_there = std::find(names.begin(), names.end(), spec.name) != names.end();
    if (is_there && !spec.snapshot.empty())
      return fmt::format("the image is there, its snapshot {} is not (rbd snap ls)", spec.snapshot);
    if (!spec.rados_namespace.empty() && names.empty()) {
      const auto spaces = list_namespaces(cluster_, spec.pool);
      if (std::find(spaces.begin(), spaces.end(), spec.rados_namespace) == spaces.end())
        return fmt::format("the pool {} has no namespace {} (rbd namespace ls)", spec.pool,
                           spec.rados_namespace);
    }
    const ImageSpec near{spec.pool, spec.rados_namespace, closest(spec.name, names), ""};
    return near.name.empty() ? "" : fmt::format("did you mean {}?", near.text());
  }

  Cluster& cluster_;
  std::map<std::string, std::vector<std::string>> names_;
};

void guard_images(const Plan& plan, const GuardContext& context,
                  const std::vector<PlannedTarget>& targets, GuardReport& report,
                  Refusals& refusals) {
  auto watchers = watcher_knowledge(report.cluster->fsid());
  watchers.run_id = context.run_id;
  watchers.own.insert(context.own_instances.begin(), context.own_instances.end());
  watchers.own.insert(report.cluster->instance_id());
  std::vector<ImageSpec> specs;
  for (const auto& target : targets) specs.push_back(parse_image_spec(target.text));
  const auto tell = [&](size_t done) {
    if (context.progress) context.progress(done, specs.size());
  };
  report.images = examine_images(report.cluster, specs, watchers, tell,
                                 [&](size_t i) { return !targets[i].writes; });
  SimilarImages similar(*report.cluster);
  DeadWatcherWait wait;
  for (size_t i = 0; i < targets.size(); ++i) {
    auto& state = report.images[i];
    const bool granted = write_is_granted(plan.grants.allow_write, state.spec);
    auto decision = state.decide(action_of(targets[i]), granted);
    if (decision.verdict == Verdict::kWaitedFor) {
      if (context.note)
        context.note(explain(targets[i].text, decision, state.report) + "; waiting");
      const auto measured = state.allocated_bytes;
      state = wait.examine(report.cluster, state.spec, watchers);
      state.allocated_bytes = measured;
      decision = state.decide(action_of(targets[i]), granted);
    }
    if (decision.verdict == Verdict::kRefused || decision.verdict == Verdict::kWaitedFor) {
      if (state.report.has(TargetState::kMissing)) similar.tell(state);
      refusals.add(targets[i], decision, state.report);
      continue;
    }
    if (decision.verdict == Verdict::kAdopted) report.to_adopt.push_back(state.spec);
    // How much was never written is told for all images together (allocation.h).
    if (decision.verdict == Verdict::kTainted && decision.because != TargetState::kEmptyUntagged)
      report.taints.push_back(
          {taint_code(decision.because), explain(targets[i].text, decision, state.report)});
    if (targets[i].writes) report.writable.insert(targets[i].text);
  }
}

void guard_objects(const Plan& plan, const GuardContext& context,
                   const std::vector<PlannedTarget>& targets, GuardReport& report,
                   Refusals& refusals) {
  std::vector<std::string> names;
  for (const auto& target : targets) names.push_back(target.text);
  const std::vector<StateReport> states = examine_objects(*report.cluster, names, [&](size_t done) {
    if (context.progress) context.progress(done, names.size());
  });
  for (size_t i = 0; i < targets.size(); ++i) {
    const bool granted = path_is_granted(plan.grants.allow_write, targets[i].text, targets[i].text);
    const auto decision =
        decide_all(TargetKind::kRadosObject, states[i].states(), action_of(targets[i]), {granted});
    if (decision.verdict == Verdict::kRefused) {
      refusals.add(targets[i], decision, states[i]);
      continue;
    }
    if (decision.verdict == Verdict::kTainted)
      report.taints.push_back(
          {taint_code(decision.because), explain(targets[i].text, decision, states[i])});
    if (targets[i].writes) report.writable.insert(targets[i].text);
  }
}

}  // namespace

std::vector<std::string> planned_pools(const Plan& plan) {
  std::set<std::string> pools;
  for (const auto& vm : plan.vms)
    for (const auto& job : vm.jobs) {
      if (const std::string image = image_of(job); !image.empty()) {
        pools.insert(parse_image_spec(image).pool);
      } else if (job.ioengine == "rados" || job.ioengine == "rados-bench") {
        pools.insert(job.engine_option("pool", "rbd"));
      }
    }
  return {pools.begin(), pools.end()};
}

std::vector<PlannedTarget> planned_targets(const Plan& plan, const std::string& run_id,
                                           bool fio_names_objects) {
  std::vector<PlannedTarget> targets;
  std::map<std::string, size_t> places;
  const auto add = [&](PlannedTarget target) {
    const auto [found, fresh] = places.emplace(target.text, targets.size());
    if (fresh) return targets.push_back(std::move(target));
    PlannedTarget& known = targets[found->second];
    if (target.writes && !known.writes)
      known.job_name = target.job_name, known.source = target.source;
    known.writes |= target.writes;
    known.generated_name &= target.generated_name;
  };
  for (const auto& vm : plan.vms)
    for (const auto& job : vm.jobs) {
      const bool writes = job.rw.writes || job.rw.trims;
      const EngineRow* row = find_engine(job.ioengine);
      if (const std::string image = image_of(job); !image.empty())
        add({PlannedTarget::Kind::kImage, image, writes, false, job.name, job.source});
      else if (row && row->target_key == file_target_key)
        for (const auto& path : FileTarget::paths(job))
          add({PlannedTarget::Kind::kPath, path, writes, job.filenames.empty(), job.name,
               job.source});
      else if (job.ioengine == "rados")
        for (const auto& text : planned_objects(job, plan, vm, run_id, fio_names_objects))
          add({PlannedTarget::Kind::kObject, text, writes, job.filenames.empty(), job.name,
               job.source});
    }
  return targets;
}

GuardReport guard_targets(const Plan& plan, const GuardContext& context) {
  check_open_files(plan);
  GuardReport report;
  report.cluster = context.cluster;
  Refusals refusals;
  std::vector<PlannedTarget> images, objects;
  for (const auto& target : planned_targets(plan, context.run_id, context.fio_names_objects)) {
    if (target.kind == PlannedTarget::Kind::kImage)
      images.push_back(target);
    else if (target.kind == PlannedTarget::Kind::kObject)
      objects.push_back(target);
    else
      guard_path(plan, context, target, report, refusals);
  }
  if (!report.cluster && images.size() + objects.size() > 0)
    report.cluster = Cluster::connect(plan.ceph, plan.limits.open_timeout_ns);
  if (!images.empty()) guard_images(plan, context, images, report, refusals);
  if (!objects.empty()) guard_objects(plan, context, objects, report, refusals);
  if (refusals.count == 0) return report;
  throw Error(fmt::format("refused; nothing was written:{}", refusals.text),
              refusals.all_liftable
                  ? "if what is there may be overwritten, name it: --allow-write TARGET"
                  : refusals.hint);
}

FileGuard make_file_guard(const Plan& plan,
                          std::function<bool(const std::string& path)> file_is_ours) {
  return [&plan, file_is_ours = std::move(file_is_ours)](const FileAccess& access) {
    if (access.created) return;
    const auto state = examine_path(access.path, {access.own_name, "", file_is_ours});
    const bool granted = path_is_granted(plan.grants.allow_write, access.path, state.resolved);
    const auto action = access.writes ? Action::kWriteJob : Action::kReadJob;
    const auto decision = decide_all(state.kind, state.report.states(), action, {granted});
    if (decision.verdict == Verdict::kRefused)
      throw Error(
          "refused: " + explain(access.path, decision, state.report),
          decision.grant_lifts
              ? fmt::format("if what is there may be overwritten: --allow-write {}", access.path)
              : std::string(decision.hint));
  };
}

void adopt_images(const GuardReport& report, const RunIdentity& run) {
  for_each_parallel(report.to_adopt.size(), 16, [&](size_t i) {
    tag_image(report.cluster, report.to_adopt[i], run, true, true);
  });
}

}  // namespace cephmark
