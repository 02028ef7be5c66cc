// cleanup: undoes what dead runs left: from their manifests, and (also from another host) by the
// tags of images. Leaves alone what belongs to a live run. May be interrupted, repeated, and run
// several times at once. Blocks; any thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ceph/cluster.h"
#include "fleet/image_state.h"
#include "fleet/manifest.h"

namespace cephmark {

enum class UndoOutcome : uint8_t {
  kUndone,
  kGone,       ///< was not there any more, or had never been made
  kWouldUndo,  ///< dry run
  kKept,       ///< is not what the run made: left alone, and struck out
  kFailed,     ///< stays in the manifest
};
std::string_view undo_outcome_name(UndoOutcome outcome);

struct CleanupItem {
  std::string run_id;
  std::string kind;  ///< "image", "file", ...
  std::string target;
  UndoOutcome outcome = UndoOutcome::kFailed;
  std::string reason;  ///< of kKept and kFailed
};

struct CleanupOptions {
  bool dry_run = false;
  std::vector<std::string> runs;  ///< these runs only, whatever their host
  bool everything = false;        ///< all dead runs of this host
  bool all_hosts = false;         ///< of the others too
  CephTarget ceph;                ///< what is set here goes before what the manifest says
  int64_t dead_watcher_wait_ns = kDeadWatcherWait_ns;
  std::function<void(const CleanupItem&)> on_item;  ///< as it goes; may be empty
};

struct CleanupReport {
  std::vector<CleanupItem> items;
  std::vector<std::string> live_runs;  ///< left alone
  std::vector<std::string>
      other_hosts;  ///< "RUN of HOST": left alone, to be named or with --all-hosts
  std::vector<std::string> unreadable;  ///< manifests that could not be read
  int failures() const;
};

/// What the manifests on this machine list.
CleanupReport clean_up_manifests(const CleanupOptions& options);

/// Images in `pools` (and their namespaces) whose tag names a run that is to be cleaned up and that
/// no manifest here knows. Made to stay (volumes create): only when the run is named.
void clean_up_tagged(const std::shared_ptr<Cluster>& cluster, const std::vector<std::string>& pools,
                     const CleanupOptions& options, CleanupReport& report);

/// Undoes one entry. Never throws: what went wrong is kFailed and the reason.
CleanupItem undo_entry(const ManifestContent& run, const ManifestEntry& entry,
                       const std::shared_ptr<Cluster>& cluster, DeadWatcherWait& wait,
                       bool dry_run = false);

/// Notes which file it is that stands at `path` now, so that another one is not removed in its
/// stead.
void note_file(Manifest& manifest, int id, const std::string& path);

}  // namespace cephmark
