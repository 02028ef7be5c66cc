// RunLedger: writes into a run's manifest what its engines are about to make (librados contexts,
// objects, files), and undoes at the end what is not to stay. Owned by the command that runs a
// plan, outlives the runner; the functions it hands out may be called from any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "ceph/cluster.h"
#include "engine/file_target.h"
#include "fleet/manifest.h"

namespace cephmark {

/// Which files stay that a run made. Files that were there before are never removed.
enum class KeepFiles : uint8_t {
  kNamed,  ///< those that the user named (filename=); generated names are removed
  kAll,    ///< --keep-files, as fio does
  kNone,   ///< the run came to no result: what it made is half made
};

/// Absolute paths of the files that dead runs of ours made on this machine and that still stand:
/// they count as ours (GuardContext::file_is_ours, make_file_guard).
std::set<std::string> files_of_dead_runs();

class RunLedger {
 public:
  explicit RunLedger(Manifest& manifest) : manifest_(manifest) {}

  /// For LocalRunnerOptions::on_connected and about_to_create_objects.
  void add_instance(uint64_t instance) { manifest_.add_instance(instance); }
  void announce_objects(const std::vector<std::string>& names);
  /// What was announced as `name` has been removed already.
  void forget_objects(const std::string& name);

  /// Asks `inner`, then announces a file that does not exist yet, and notes which one was made.
  FileGuard file_guard(FileGuard inner);
  /// After the runner: removes files and objects that are not to stay and strikes out what is done.
  /// `cluster` null: objects are left to `cephmark cleanup`. Never throws, and waits a minute at
  /// the most, for a cluster that does not answer; returns what could not be undone, a line each.
  std::vector<std::string> settle(const std::shared_ptr<Cluster>& cluster, KeepFiles keep);

 private:
  void announce_file(const FileAccess& access);
  void note_made(const FileAccess& access);

  Manifest& manifest_;
  std::mutex mutex_;
  std::map<std::string, int> files_;  ///< announced: absolute path -> manifest id
  std::set<int> named_files_;         ///< of these, named by the user
};

}  // namespace cephmark
