#include "fleet/image_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "base/time.h"
#include "ceph/forgotten_watch.h"
#include "fleet/manifest.h"

namespace cephmark {
namespace {

/// The tag's run is under way and is not this one. One process may have several runs, one after the
/// other or side by side: the run ids tell them apart.
bool is_live_run_of_another(const RunIdentity& run, const std::string& my_run_id) {
  if (run.run_id == my_run_id) return false;
  if (my_run_id.empty() && is_this_process(run)) return false;
  return run_is_under_way(run);
}

void examine_watchers(Image& image, const WatcherKnowledge& knowledge, StateReport& report) {
  for (const auto& watcher : image.watchers()) {
    if (knowledge.own.count(watcher.client)) continue;
    const auto state = knowledge.dead.count(watcher.client) ? TargetState::kDeadWatcher
                                                            : TargetState::kForeignWatcher;
    report.add(state, fmt::format("client.{} at {}", watcher.client, watcher.address));
  }
}

/// A lock by hand keeps us from writing, and whoever took it relies on that.
void examine_locks(Image& image, StateReport& report) {
  for (const auto& lock : image.foreign_locks())
    report.add(TargetState::kForeignWatcher, fmt::format("lock {} (rbd lock ls)", lock));
}

void examine_content(Image& image, StateReport& report, bool ours, bool tag_of_another) {
  const auto snapshots = image.snapshots();
  if (!snapshots.empty())
    report.add(ours ? TargetState::kOursSnapshots : TargetState::kSnapshotsUntagged,
               snapshots.size() == 1
                   ? snapshots[0]
                   : fmt::format("{} and {} more", snapshots[0], snapshots.size() - 1));
  if (ours) {
    report.add(TargetState::kOurs);
  } else if (tag_of_another) {
    report.add(TargetState::kTagOfAnother);
  } else if (image.has_data()) {
    const std::string parent = image.parent();
    report.add(TargetState::kDataUntagged, parent.empty() ? "" : "it is a clone of " + parent);
  } else if (snapshots.empty()) {
    report.add(TargetState::kEmptyUntagged);
  }
}

}  // namespace

WatcherKnowledge watcher_knowledge(const std::string& fsid) {
  WatcherKnowledge knowledge;
  for (const auto& manifest : list_manifests())
    if (manifest.fsid == fsid && !manifest.instances.empty() && !manifest_is_live(manifest))
      knowledge.dead.insert(manifest.instances.begin(), manifest.instances.end());
  return knowledge;
}

Decision ImageState::decide(Action action, bool granted) const {
  const auto states = report.states();
  return decide_all(TargetKind::kRbdImage, states, action, {granted});
}

ImageState examine_image(const std::shared_ptr<Cluster>& cluster, const ImageSpec& spec,
                         const WatcherKnowledge& watchers, bool measure) {
  ImageState state;
  state.spec = spec;
  cluster->io(spec.pool,
              spec.rados_namespace);  // a pool that does not exist is the user's mistake: it throws
  try {
    const auto image = Image::open(cluster, spec, true);
    if (!image) {
      state.report.add(TargetState::kMissing);
      return state;
    }
    state.exists = true;
    state.id = image->id();
    state.size_bytes = image->size_bytes();
    state.parent = image->parent();
    state.data_pool = image->data_pool();
    if (measure) state.allocated_bytes = image->allocated_bytes();
    if (!spec.snapshot.empty()) {
      state.report.add(TargetState::kSnapshot);
      return state;
    }
    if (const auto text = image->metadata(kImageTagKey)) state.tag = parse_tag(*text);
    state.ours = state.tag && state.tag->is_for(state.id, cluster->fsid());
    examine_watchers(*image, watchers, state.report);
    examine_locks(*image, state.report);
    examine_content(*image, state.report, state.ours, state.tag.has_value() && !state.ours);
    if (state.ours && is_live_run_of_another(state.tag->run, watchers.run_id))
      state.report.add(TargetState::kLiveRun,
                       fmt::format("run {}, pid {}", state.tag->run.run_id, state.tag->run.pid));
  } catch (const Error& error) {
    state.report.add(TargetState::kUnknown, error.what());
  }
  return state;
}

std::vector<ImageState> examine_images(const std::shared_ptr<Cluster>& cluster,
                                       const std::vector<ImageSpec>& specs,
                                       const WatcherKnowledge& watchers,
                                       const std::function<void(size_t)>& progress,
                                       const std::function<bool(size_t)>& measure) {
  std::vector<ImageState> states(specs.size());
  std::mutex mutex;
  size_t done = 0;
  // More at once are no faster: the time goes into the OSDs' answers and librbd's own threads.
  constexpr size_t kAtOnce = 16;
  for_each_parallel(specs.size(), kAtOnce, [&](size_t i) {
    states[i] = examine_image(cluster, specs[i], watchers, measure && measure(i));
    const std::lock_guard lock(mutex);
    if (progress) progress(++done);
  });
  return states;
}

ImageState DeadWatcherWait::examine(const std::shared_ptr<Cluster>& cluster, const ImageSpec& spec,
                                    const WatcherKnowledge& watchers, bool made_by_us) {
  if (!until_ns_) until_ns_ = monotonic_ns() + timeout_ns_;
  for (;;) {
    auto state = examine_image(cluster, spec, watchers);
    if (!state.report.has(TargetState::kDeadWatcher)) return state;
    if (monotonic_ns() < until_ns_) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      continue;
    }
    const bool dropped =
        (made_by_us || state.ours) && drop_forgotten_watches(cluster, spec, watchers.dead);
    return dropped ? examine_image(cluster, spec, watchers) : state;
  }
}

void tag_image(const std::shared_ptr<Cluster>& cluster, const ImageSpec& spec,
               const RunIdentity& run, bool keep, bool adopted) {
  const auto image = Image::open(cluster, spec, false);
  if (!image) throw Error(fmt::format("image {} is gone", spec.text()));
  image->set_metadata(kImageTagKey, format_tag({image->id(), cluster->fsid(), run, keep, adopted,
                                                utc_time_text(wall_ns())}));
}

std::string explain(const std::string& target, const Decision& decision,
                    const StateReport& report) {
  const std::string detail = report.detail_of(decision.because);
  return fmt::format("{} {}{}{}", target, decision.reason, detail.empty() ? "" : ": ", detail);
}

void for_each_parallel(size_t count, size_t parallel, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr first;
  std::mutex mutex;
  const auto loop = [&] {
    while (!failed) {
      const size_t i = next++;
      if (i >= count) return;
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!first) first = std::current_exception();
        failed = true;
      }
    }
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < std::min(count, parallel); ++i) threads.emplace_back(loop);
  loop();
  for (auto& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace cephmark
