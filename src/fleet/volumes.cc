#include "fleet/volumes.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "base/units.h"
#include "fleet/cleanup.h"
#include "fleet/file_state.h"

namespace cephmark {
namespace {

WatcherKnowledge knowledge_of(const VolumeContext& context) {
  auto watchers = watcher_knowledge(context.cluster->fsid());
  watchers.own.insert(context.cluster->instance_id());
  if (context.manifest) watchers.run_id = context.manifest->identity().run_id;
  return watchers;
}

/// Counts and tells under one lock.
class Progress {
 public:
  Progress(const VolumeContext& context, std::string what, uint64_t total)
      : context_(context), what_(std::move(what)), total_(total) {}
  void step() {
    const std::lock_guard lock(mutex_);
    if (context_.progress) context_.progress(what_, ++done_, total_);
    if (context_.alive) context_.alive(0);
  }

 private:
  const VolumeContext& context_;
  std::string what_;
  uint64_t done_ = 0, total_;
  std::mutex mutex_;
};

void make_one(const VolumeContext& context, const ImageSpec& spec, const ImageShape& shape,
              bool keep, int id) {
  create_image(*context.cluster, spec, shape);
  {
    const auto image = Image::open(context.cluster, spec, false);
    if (!image)
      throw Error(fmt::format("image {} was removed while it was being made", spec.text()));
    context.manifest->note(id, "image_id", image->id());
    if (shape.clone_from && shape.size_bytes > image->size_bytes()) image->resize(shape.size_bytes);
  }
  tag_image(context.cluster, spec, context.manifest->identity(), keep, false);
}

/// Takes back what a failed creation made so far. What cannot be taken back stays in the manifest.
void undo_creation(const VolumeContext& context, int first, size_t count) {
  const ManifestContent content = context.manifest->content();
  std::vector<ManifestEntry> begun;
  for (const auto& entry : content.open)
    if (entry.id >= first && entry.id < first + static_cast<int>(count)) begun.push_back(entry);
  Progress progress(context, "taking back what was made", begun.size());
  for_each_parallel(begun.size(), context.parallel, [&](size_t i) {
    DeadWatcherWait wait;
    const auto item = undo_entry(content, begun[i], context.cluster, wait);
    if (item.outcome != UndoOutcome::kFailed) context.manifest->strike_out(begun[i].id);
    progress.step();
  });
}

uint64_t size_to_make(const VolumeContext& context, const ImageShape& shape) {
  if (!shape.clone_from) return shape.size_bytes;
  const auto parent = Image::open(context.cluster, *shape.clone_from, true);
  if (!parent) throw Error(fmt::format("there is no snapshot {}", shape.clone_from->text()));
  return std::max(shape.size_bytes, parent->size_bytes());
}

}  // namespace

bool write_is_granted(const std::vector<std::string>& allow_write, const ImageSpec& spec) {
  return std::any_of(allow_write.begin(), allow_write.end(), [&](const std::string& pattern) {
    return pattern_matches(pattern, spec.text()) || pattern_matches(pattern, spec.name);
  });
}

void require_space(const std::shared_ptr<Cluster>& cluster, const std::string& pool, uint64_t bytes,
                   const std::string& what) {
  if (bytes == 0) return;
  const auto space = pool_space(*cluster, pool);
  if (bytes <= space.free_below_nearfull_bytes) return;
  throw Error(
      fmt::format("{} needs {} in pool {} ({} raw, {}), but only {} are free there below nearfull "
                  "({:.0f} %)",
                  what, format_size(bytes), pool,
                  format_size(static_cast<uint64_t>(bytes * space.raw_factor)), space.redundancy,
                  format_size(space.free_below_nearfull_bytes), space.nearfull_ratio * 100),
      "make fewer or smaller images, or free some space");
}

CreateReport plan_volumes(const VolumeContext& context, const std::vector<ImageSpec>& images,
                          const ImageShape& shape) {
  const uint64_t size = size_to_make(context, shape);
  CreateReport report;
  std::string refusals;
  for (const auto& state : examine_images(context.cluster, images, knowledge_of(context))) {
    const auto decision = state.decide(Action::kCreate);
    if (decision.verdict == Verdict::kRefused)
      refusals += "\n  " + explain(state.spec.text(), decision, state.report);
    else if (state.exists && state.size_bytes != size)
      refusals += fmt::format("\n  {} exists already and is ours, but has {} instead of {}",
                              state.spec.text(), format_size(state.size_bytes), format_size(size));
    else
      (state.exists ? report.found : report.created).push_back(state.spec);
  }
  if (!refusals.empty())
    throw Error("no image was made:" + refusals,
                "choose other names, or remove them first: cephmark volumes remove");
  if (report.created.empty()) return report;
  const std::string pool = shape.data_pool.empty() ? images[0].pool : shape.data_pool;
  require_space(context.cluster, pool, size * report.created.size(),
                fmt::format("making {} image{} of {}", report.created.size(),
                            report.created.size() == 1 ? "" : "s", format_size(size)));
  return report;
}

CreateReport create_volumes(const VolumeContext& context, const std::vector<ImageSpec>& images,
                            const ImageShape& shape, bool keep) {
  CreateReport report = plan_volumes(context, images, shape);
  if (report.created.empty()) return report;
  std::vector<ManifestEntry> entries;
  for (const auto& spec : report.created)
    entries.push_back({0, ResourceKind::kImage, spec.text(), {}});
  const int first = context.manifest->begin_all(entries);
  try {
    Progress progress(context, "making images", report.created.size());
    for_each_parallel(report.created.size(), context.parallel, [&](size_t i) {
      if (context.stop.stop_requested())
        throw Error("interrupted while images were being made", "", ExitCode::kInterrupted);
      make_one(context, report.created[i], shape, keep, first + static_cast<int>(i));
      progress.step();
    });
  } catch (...) {
    undo_creation(context, first, entries.size());
    throw;
  }
  for (size_t i = 0; i < entries.size(); ++i) {
    if (keep)
      context.manifest->strike_out(first + static_cast<int>(i));
    else
      report.manifest_ids.push_back(first + static_cast<int>(i));
  }
  return report;
}

size_t remove_volumes(const VolumeContext& context, const std::vector<ImageSpec>& images) {
  const auto watchers = knowledge_of(context);
  std::string refusals, hint;
  std::vector<ImageState> states = examine_images(context.cluster, images, watchers);
  DeadWatcherWait wait;
  for (auto& state : states) {
    auto decision = state.decide(Action::kRemove);
    if (decision.verdict == Verdict::kWaitedFor) {
      if (context.progress)
        context.progress("waiting for watchers of a dead run on " + state.spec.text(), 0, 0);
      if (context.alive) context.alive(kDeadWatcherWait_ns);
      state = wait.examine(context.cluster, state.spec, watchers);
      decision = state.decide(Action::kRemove);
    }
    if (decision.verdict == Verdict::kAllowed) continue;
    if (refusals.empty()) hint = decision.hint;
    refusals += "\n  " + explain(state.spec.text(), decision, state.report);
  }
  if (!refusals.empty()) throw Error("no image was removed:" + refusals, hint);
  std::vector<ImageSpec> there;
  for (const auto& state : states)
    if (state.exists) there.push_back(state.spec);
  Progress progress(context, "removing images", there.size());
  for_each_parallel(there.size(), context.parallel, [&](size_t i) {
    if (context.stop.stop_requested())
      throw Error("interrupted while images were being removed", "", ExitCode::kInterrupted);
    remove_image(*context.cluster, there[i], [&] {
      if (context.alive) context.alive(0);
    });
    progress.step();
  });
  return there.size();
}

}  // namespace cephmark
