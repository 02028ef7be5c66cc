#include "fleet/cleanup.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/error.h"
#include "fleet/image_state.h"

namespace cephmark {
namespace {

constexpr std::array<std::string_view, 5> kOutcomeNames = {
    "removed", "was gone", "would be removed", "left alone", "failed"};

bool contains(const std::vector<std::string>& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool is_asked_for(const CleanupOptions& options, const RunIdentity& run) {
  if (contains(options.runs, run.run_id)) return true;
  return options.everything && (options.all_hosts || run.host == local_host_name());
}

CephTarget overlay(CephTarget base, const CephTarget& over) {
  if (!over.conf.empty()) base.conf = over.conf;
  if (!over.user.empty()) base.user = over.user;
  if (!over.keyring.empty()) base.keyring = over.keyring;
  if (!over.cluster.empty()) base.cluster = over.cluster;
  return base;
}

bool needs_cluster(const ManifestContent& run) {
  return std::any_of(run.open.begin(), run.open.end(), [](const auto& entry) {
    return entry.kind != ResourceKind::kFile && entry.kind != ResourceKind::kDirectory;
  });
}

void report_item(CleanupReport& report, const CleanupOptions& options, CleanupItem item) {
  if (options.on_item) options.on_item(item);
  report.items.push_back(std::move(item));
}

void clean_up_run(const ManifestContent& found, const CleanupOptions& options,
                  CleanupReport& report) {
  std::unique_ptr<Manifest> manifest;
  if (!options.dry_run) {
    manifest = Manifest::take_over(found.path);
    if (!manifest) return;  // another clean-up has it
  }
  const ManifestContent run = manifest ? manifest->content() : found;
  std::shared_ptr<Cluster> cluster;
  std::string unreachable;
  if (needs_cluster(run)) {
    try {
      cluster = Cluster::connect(overlay(run.ceph, options.ceph));
    } catch (const Error& error) {
      unreachable = error.what();
    }
  }
  DeadWatcherWait wait(options.dead_watcher_wait_ns);
  for (auto entry = run.open.rbegin(); entry != run.open.rend(); ++entry) {
    auto item = undo_entry(run, *entry, cluster, wait, options.dry_run);
    if (!cluster && !unreachable.empty() && item.kind != "file" && item.kind != "directory")
      item.reason = unreachable;
    if (manifest && item.outcome != UndoOutcome::kFailed) manifest->strike_out(entry->id);
    report_item(report, options, std::move(item));
  }
}

/// Removes an image that carries the tag of a run that is to be cleaned up.
CleanupItem remove_tagged(const std::shared_ptr<Cluster>& cluster, const ImageState& state,
                          const WatcherKnowledge& watchers, DeadWatcherWait& wait, bool dry_run) {
  CleanupItem item{state.tag->run.run_id, "image", state.spec.text(), UndoOutcome::kFailed, ""};
  try {
    auto now = state;
    if (!dry_run && now.report.has(TargetState::kDeadWatcher))
      now = wait.examine(cluster, state.spec, watchers);
    const auto decision = now.decide(Action::kCleanup);
    if (decision.verdict == Verdict::kRefused ||
        (decision.verdict == Verdict::kWaitedFor && !dry_run)) {
      item.reason = explain("it", decision, now.report);
    } else if (dry_run) {
      item.outcome = UndoOutcome::kWouldUndo;
    } else {
      remove_image(*cluster, state.spec);
      item.outcome = UndoOutcome::kUndone;
    }
  } catch (const Error& error) {
    item.reason = error.what();
  }
  return item;
}

}  // namespace

std::string_view undo_outcome_name(UndoOutcome outcome) {
  return kOutcomeNames[static_cast<int>(outcome)];
}

int CleanupReport::failures() const {
  return static_cast<int>(
             std::count_if(items.begin(), items.end(),
                           [](const auto& item) { return item.outcome == UndoOutcome::kFailed; })) +
         static_cast<int>(unreadable.size());
}

CleanupReport clean_up_manifests(const CleanupOptions& options) {
  CleanupReport report;
  for (const auto& run : list_manifests(&report.unreadable)) {
    const auto& identity = run.identity;
    if (manifest_is_live(run)) {
      report.live_runs.push_back(identity.run_id);
      continue;
    }
    if (!is_asked_for(options, identity)) {
      if (identity.host != local_host_name())
        report.other_hosts.push_back(fmt::format("{} of {}", identity.run_id, identity.host));
      continue;
    }
    clean_up_run(run, options, report);
  }
  return report;
}

void clean_up_tagged(const std::shared_ptr<Cluster>& cluster, const std::vector<std::string>& pools,
                     const CleanupOptions& options, CleanupReport& report) {
  auto watchers = watcher_knowledge(cluster->fsid());
  watchers.own.insert(cluster->instance_id());
  std::set<std::string> others;
  DeadWatcherWait wait(options.dead_watcher_wait_ns);
  for (const auto& pool : pools) {
    std::vector<std::string> namespaces = list_namespaces(*cluster, pool);
    namespaces.insert(namespaces.begin(), "");
    std::vector<ImageSpec> specs;
    for (const auto& ns : namespaces)
      for (const auto& name : list_images(*cluster, pool, ns))
        specs.push_back({pool, ns, name, ""});
    for (const auto& state : examine_images(cluster, specs, watchers)) {
      if (!state.ours || state.tag->adopted) continue;
      const auto& run = state.tag->run;
      const bool named = contains(options.runs, run.run_id);
      if (state.tag->keep && !named) continue;
      const bool told =
          std::any_of(report.items.begin(), report.items.end(), [&](const auto& item) {
            return item.run_id == run.run_id && item.target == state.spec.text();
          });
      if (told) continue;  // by its manifest
      if (liveness_of(run) == Liveness::kAlive) {
        if (!contains(report.live_runs, run.run_id)) report.live_runs.push_back(run.run_id);
      } else if (is_asked_for(options, run)) {
        report_item(report, options,
                    remove_tagged(cluster, state, watchers, wait, options.dry_run));
      } else if (run.host != local_host_name()) {
        others.insert(fmt::format("{} of {}", run.run_id, run.host));
      }
    }
  }
  for (const auto& other : others)
    if (!contains(report.other_hosts, other)) report.other_hosts.push_back(other);
}

}  // namespace cephmark
