#include "fleet/run_ledger.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <thread>

#include "base/error.h"
#include "fleet/cleanup.h"
#include "fleet/image_state.h"

namespace cephmark {
namespace {

constexpr size_t kParallelUndos = 16;
constexpr auto kPatience = std::chrono::seconds(60);

/// Links in the path followed, as the guard sees it.
std::string absolute(const std::string& path) {
  return std::filesystem::weakly_canonical(std::filesystem::absolute(path)).string();
}

/// The file at the path is the one that the entry noted.
bool is_still_there(const ManifestEntry& entry) {
  struct stat info {};
  const auto inode = entry.notes.find("inode"), device = entry.notes.find("device");
  return ::lstat(entry.target.c_str(), &info) == 0 && inode != entry.notes.end() &&
         device != entry.notes.end() && inode->second == std::to_string(info.st_ino) &&
         device->second == std::to_string(info.st_dev);
}

/// Removing an object never returns while the cluster does not answer: then its thread is left
/// behind, with this.
struct Undoing {
  ManifestContent run;
  std::shared_ptr<Cluster> cluster;
  std::vector<ManifestEntry> entries;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<int, CleanupItem> items;  ///< by the entry's id
  bool ended = false;

  void work() {
    for_each_parallel(entries.size(), kParallelUndos, [this](size_t i) {
      DeadWatcherWait wait;
      auto item = undo_entry(run, entries[i], cluster, wait);
      const std::lock_guard lock(mutex);
      items[entries[i].id] = std::move(item);
    });
    const std::lock_guard lock(mutex);
    ended = true;
    changed.notify_all();
  }
};

bool is_engine_made(ResourceKind kind) {
  return kind == ResourceKind::kFile || kind == ResourceKind::kObject;
}

}  // namespace

std::set<std::string> files_of_dead_runs() {
  std::set<std::string> paths;
  for (const auto& run : list_manifests()) {
    if (run.identity.host != local_host_name() || manifest_is_live(run)) continue;
    for (const auto& entry : run.open)
      if (entry.kind == ResourceKind::kFile && is_still_there(entry)) paths.insert(entry.target);
  }
  return paths;
}

void RunLedger::announce_objects(const std::vector<std::string>& names) {
  std::vector<ManifestEntry> entries;
  for (const auto& name : names) entries.push_back({0, ResourceKind::kObject, name, {}});
  manifest_.begin_all(entries);
}

void RunLedger::forget_objects(const std::string& name) {
  for (const auto& entry : manifest_.content().open)
    if (entry.kind == ResourceKind::kObject && entry.target == name) {
      manifest_.strike_out(entry.id);
      return;
    }
}

void RunLedger::announce_file(const FileAccess& access) {
  const std::string path = absolute(access.path);
  const int id = manifest_.begin(ResourceKind::kFile, path);
  const std::lock_guard lock(mutex_);
  files_[path] = id;
  if (!access.generated) named_files_.insert(id);
}

void RunLedger::note_made(const FileAccess& access) {
  const std::string path = absolute(access.path);
  int id = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(path);
    if (found == files_.end()) return;
    id = found->second;
  }
  note_file(manifest_, id, path);
}

FileGuard RunLedger::file_guard(FileGuard inner) {
  return [this, inner = std::move(inner)](const FileAccess& access) {
    if (access.created) return note_made(access);
    if (inner) inner(access);
    if (!access.exists) announce_file(access);
  };
}

std::vector<std::string> RunLedger::settle(const std::shared_ptr<Cluster>& cluster,
                                           KeepFiles keep) {
  std::vector<std::string> troubles;
  auto undoing = std::make_shared<Undoing>();
  undoing->run = manifest_.content();
  undoing->cluster = cluster;
  for (const auto& entry : undoing->run.open) {
    if (!is_engine_made(entry.kind)) continue;
    if (entry.kind == ResourceKind::kFile &&
        (keep == KeepFiles::kAll || (keep == KeepFiles::kNamed && named_files_.count(entry.id))))
      manifest_.strike_out(entry.id);
    else if (entry.kind == ResourceKind::kObject && !cluster)
      troubles.push_back(entry.target + " is left: the cluster does not answer");
    else
      undoing->entries.push_back(entry);
  }
  if (undoing->entries.empty()) return troubles;
  std::thread([undoing] { undoing->work(); }).detach();
  std::unique_lock lock(undoing->mutex);
  undoing->changed.wait_for(lock, kPatience, [&] { return undoing->ended; });
  for (const auto& entry : undoing->entries) {
    const auto item = undoing->items.find(entry.id);
    if (item == undoing->items.end())
      troubles.push_back(
          fmt::format("{} {} is left: waited {} s in all for the answer to its removal",
                      resource_kind_name(entry.kind), entry.target, kPatience.count()));
    else if (item->second.outcome == UndoOutcome::kFailed)
      troubles.push_back(
          fmt::format("{} could not be removed: {}", entry.target, item->second.reason));
    else
      manifest_.strike_out(entry.id);
  }
  return troubles;
}

}  // namespace cephmark
