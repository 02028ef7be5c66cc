// undo_entry: how each kind of thing that a manifest lists is undone.
#include <fmt/format.h>
#include <rados/librados.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "ceph/image.h"
#include "ceph/object_name.h"
#include "ceph/rados_bench_objects.h"
#include "fleet/bench_objects.h"
#include "fleet/cleanup.h"
#include "fleet/image_state.h"

namespace cephmark {
namespace {

using O = UndoOutcome;

struct Outcome {
  O outcome = O::kFailed;
  std::string reason;
};

std::string note_of(const ManifestEntry& entry, const char* key) {
  const auto found = entry.notes.find(key);
  return found == entry.notes.end() ? "" : found->second;
}

Outcome undo_path(const ManifestContent& run, const ManifestEntry& entry, bool dry_run) {
  if (run.identity.host != local_host_name())
    return {O::kFailed,
            fmt::format("it is on host {}: run cephmark cleanup there", run.identity.host)};
  const bool directory = entry.kind == ResourceKind::kDirectory;
  struct stat info {};
  if (::lstat(entry.target.c_str(), &info))
    return errno == ENOENT || errno == ENOTDIR ? Outcome{O::kGone, ""}
                                               : Outcome{O::kFailed, errno_text(errno)};
  const std::string inode = note_of(entry, "inode"), device = note_of(entry, "device");
  if (!inode.empty() &&
      (inode != std::to_string(info.st_ino) || device != std::to_string(info.st_dev)))
    return {O::kKept, "another file has that name now"};
  if (dry_run) return {O::kWouldUndo, ""};
  const int r = directory ? ::rmdir(entry.target.c_str()) : ::unlink(entry.target.c_str());
  if (r && directory && (errno == ENOTEMPTY || errno == EEXIST))
    return {O::kKept, "it is not empty"};
  if (r) return {O::kFailed, errno_text(errno)};
  return {O::kUndone, ""};
}

/// True when the image is the one that the run announced: by the noted id, by its tag, or (when the
/// run died between making and noting) because nobody has put anything into it.
bool is_the_announced_image(const ManifestContent& run, const ManifestEntry& entry,
                            const ImageState& state) {
  const std::string noted = note_of(entry, "image_id");
  if (!noted.empty()) return noted == state.id;
  if (state.ours) return state.tag->run.run_id == run.identity.run_id;
  return state.report.has(TargetState::kEmptyUntagged) &&
         !state.report.has(TargetState::kForeignWatcher);
}

Outcome undo_image(const ManifestContent& run, const ManifestEntry& entry,
                   const std::shared_ptr<Cluster>& cluster, DeadWatcherWait& wait, bool dry_run) {
  const auto spec = parse_image_spec(entry.target);
  auto watchers = watcher_knowledge(cluster->fsid());
  watchers.own.insert(cluster->instance_id());
  watchers.dead.insert(run.instances.begin(), run.instances.end());
  auto state = examine_image(cluster, spec, watchers);
  if (!state.exists && state.report.has(TargetState::kMissing)) {
    // A creation that was cut off may have left the name without an image that could be opened.
    const auto names = list_images(*cluster, spec.pool, spec.rados_namespace);
    if (std::find(names.begin(), names.end(), spec.name) == names.end()) return {O::kGone, ""};
    if (dry_run) return {O::kWouldUndo, ""};
    remove_image(*cluster, spec);
    return {O::kUndone, ""};
  }
  if (state.report.has(TargetState::kUnknown))
    return {O::kFailed, state.report.detail_of(TargetState::kUnknown)};
  if (!is_the_announced_image(run, entry, state))
    return {O::kKept, "it is not the image that the run made"};
  if (dry_run) return {O::kWouldUndo, ""};
  if (state.report.has(TargetState::kDeadWatcher))
    state = wait.examine(cluster, spec, watchers, true);
  // The manifest proves that it is ours; who uses it now decides.
  StateReport use;
  use.add(TargetState::kOurs);
  for (const auto& finding : state.report.findings)
    if (finding.state == TargetState::kForeignWatcher ||
        finding.state == TargetState::kDeadWatcher || finding.state == TargetState::kOursSnapshots)
      use.add(finding.state, finding.detail);
  const auto decision = decide_all(TargetKind::kRbdImage, use.states(), Action::kCleanup, {});
  if (decision.verdict != Verdict::kAllowed) return {O::kFailed, explain("it", decision, use)};
  remove_image(*cluster, spec);
  return {O::kUndone, ""};
}

Outcome undo_object(const ManifestEntry& entry, const std::shared_ptr<Cluster>& cluster,
                    bool dry_run) {
  const ObjectName name = parse_object_name(entry.target);
  const auto io = cluster->io(name.pool, name.rados_namespace);
  if (const auto prefix = parse_bench_pattern(name.object)) {
    const auto objects = list_bench_objects(io, *prefix);
    if (objects.empty()) return {O::kGone, ""};
    if (dry_run) return {O::kWouldUndo, ""};
    const auto removed = remove_objects(io, objects);
    return removed.left
               ? Outcome{O::kFailed, fmt::format("{} of {} objects are left: {}", removed.left,
                                                 objects.size(), errno_text(removed.error))}
               : Outcome{O::kUndone, ""};
  }
  uint64_t size = 0;
  time_t modified = 0;
  int r = rados_stat(io.get(), name.object.c_str(), &size, &modified);
  if (r == -ENOENT) return {O::kGone, ""};
  if (r < 0) return {O::kFailed, errno_text(r)};
  if (dry_run) return {O::kWouldUndo, ""};
  r = rados_remove(io.get(), name.object.c_str());
  return r < 0 && r != -ENOENT ? Outcome{O::kFailed, errno_text(r)} : Outcome{O::kUndone, ""};
}

Outcome undo_setting(const ManifestEntry& entry, const std::shared_ptr<Cluster>& cluster,
                     bool dry_run) {
  const auto image = Image::open(cluster, parse_image_spec(entry.target), false);
  if (!image) return {O::kGone, ""};
  if (dry_run) return {O::kWouldUndo, ""};
  const std::string key = note_of(entry, "key");
  if (entry.notes.count("old"))
    image->set_metadata(key, note_of(entry, "old"));
  else
    image->remove_metadata(key);
  return {O::kUndone, ""};
}

Outcome undo_pool(const ManifestEntry& entry, const std::shared_ptr<Cluster>& cluster,
                  bool dry_run) {
  const auto pools = cluster->pools();
  if (std::find(pools.begin(), pools.end(), entry.target) == pools.end()) return {O::kGone, ""};
  if (dry_run) return {O::kWouldUndo, ""};
  cluster->monitor_command({{"prefix", "osd pool delete"},
                            {"pool", entry.target},
                            {"pool2", entry.target},
                            {"yes_i_really_really_mean_it", true}});
  return {O::kUndone, ""};
}

Outcome undo(const ManifestContent& run, const ManifestEntry& entry,
             const std::shared_ptr<Cluster>& cluster, DeadWatcherWait& wait, bool dry_run) {
  if (entry.kind == ResourceKind::kFile || entry.kind == ResourceKind::kDirectory)
    return undo_path(run, entry, dry_run);
  if (!cluster) return {O::kFailed, "there is no connection to its cluster"};
  if (cluster->fsid() != run.fsid)
    return {O::kFailed,
            fmt::format("it is on the cluster {}, this is {} (--conf)", run.fsid, cluster->fsid())};
  switch (entry.kind) {
    case ResourceKind::kImage:
      return undo_image(run, entry, cluster, wait, dry_run);
    case ResourceKind::kObject:
      return undo_object(entry, cluster, dry_run);
    case ResourceKind::kSetting:
      return undo_setting(entry, cluster, dry_run);
    case ResourceKind::kPool:
      return undo_pool(entry, cluster, dry_run);
    case ResourceKind::kFlag:
      if (dry_run) return {O::kWouldUndo, ""};
      cluster->monitor_command({{"prefix", "osd unset"}, {"key", entry.target}});
      return {O::kUndone, ""};
    case ResourceKind::kFile:
    case ResourceKind::kDirectory:
      break;
  }
  return {O::kFailed, "unknown kind"};
}

}  // namespace

CleanupItem undo_entry(const ManifestContent& run, const ManifestEntry& entry,
                       const std::shared_ptr<Cluster>& cluster, DeadWatcherWait& wait,
                       bool dry_run) {
  CleanupItem item{run.identity.run_id, std::string(resource_kind_name(entry.kind)), entry.target,
                   O::kFailed, ""};
  try {
    const auto outcome = undo(run, entry, cluster, wait, dry_run);
    item.outcome = outcome.outcome;
    item.reason = outcome.reason;
  } catch (const std::exception& error) {
    item.reason = error.what();
  }
  return item;
}

void note_file(Manifest& manifest, int id, const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info))
    throw Error(fmt::format("cannot examine {}: {}", path, errno_text(errno)));
  manifest.note(id, "device", std::to_string(info.st_dev));
  manifest.note(id, "inode", std::to_string(info.st_ino));
}

}  // namespace cephmark
