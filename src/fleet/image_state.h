// image_state: whose an RBD image is, what it holds and who uses it. Reads only, except
// adopt_image. Blocks; any thread but a library callback.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ceph/image.h"
#include "fleet/device_state.h"
#include "fleet/image_tag.h"

namespace cephmark {

/// Whose watchers are whose.
struct WatcherKnowledge {
  std::set<uint64_t> own;   ///< librados instance ids of this run, agents' included
  std::set<uint64_t> dead;  ///< of runs of ours that have died
  std::string run_id;       ///< of this run; empty: whatever this process made counts as its own
};
/// The dead ones from the manifests on this machine, for this cluster; `own` is left to the caller.
WatcherKnowledge watcher_knowledge(const std::string& fsid);

struct ImageState {
  ImageSpec spec;
  bool exists = false;
  std::string id;
  uint64_t size_bytes = 0;
  std::optional<uint64_t> allocated_bytes;  ///< where it was asked for
  std::string parent;                       ///< "pool/image@snap"; empty: no clone
  std::string data_pool;                    ///< where its data lie: mostly its own pool
  std::optional<ImageTag> tag;              ///< as found, whether it is for this image or not
  bool ours = false;                        ///< the tag is for this image
  StateReport report;

  Decision decide(Action action, bool granted = false) const;
};

/// Never throws for what it cannot see (that is kUnknown), but for a pool that does not exist.
/// `measure`: how much of it is written too.
ImageState examine_image(const std::shared_ptr<Cluster>& cluster, const ImageSpec& spec,
                         const WatcherKnowledge& watchers, bool measure = false);
/// Many, in parallel; the order is kept. `progress(done)` is called from any thread, one at a time.
/// `measure(i)`: specs[i] is to be measured too; empty: none.
std::vector<ImageState> examine_images(const std::shared_ptr<Cluster>& cluster,
                                       const std::vector<ImageSpec>& specs,
                                       const WatcherKnowledge& watchers,
                                       const std::function<void(size_t)>& progress = {},
                                       const std::function<bool(size_t)>& measure = {});

/// The OSDs end the watch of a dead client after 30 s (osd_client_watch_timeout).
inline constexpr int64_t kDeadWatcherWait_ns = 45'000'000'000;

/// Waits for watchers of dead runs, once for all images of one command: a client that is dead is
/// dead for all of them. One thread at a time.
class DeadWatcherWait {
 public:
  explicit DeadWatcherWait(int64_t timeout_ns = kDeadWatcherWait_ns) : timeout_ns_(timeout_ns) {}
  /// Examines the image until no dead watcher is left, or the time that began with the first wait
  /// is over. What is left then is a watch that the OSDs have forgotten to end (forgotten_watch.h):
  /// it is taken off an image that is ours, by its tag or because `made_by_us`. Throws Error when
  /// that fails.
  ImageState examine(const std::shared_ptr<Cluster>& cluster, const ImageSpec& spec,
                     const WatcherKnowledge& watchers, bool made_by_us = false);

 private:
  int64_t timeout_ns_, until_ns_ = 0;
};

/// Writes the tag for the image of that name. Throws Error when it is gone.
void tag_image(const std::shared_ptr<Cluster>& cluster, const ImageSpec& spec,
               const RunIdentity& run, bool keep, bool adopted);

/// "rbd/vm-1 is in use by another client (...): client.4123 at 10.0.0.7" and so on.
std::string explain(const std::string& target, const Decision& decision, const StateReport& report);

/// Calls work(0..count-1) from at most `parallel` threads and waits. The first exception is thrown
/// after all have ended.
void for_each_parallel(size_t count, size_t parallel, const std::function<void(size_t)>& work);

}  // namespace cephmark
