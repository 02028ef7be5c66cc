// Manifest: what a run makes or changes, written down (and synced) before it is done and struck out
// when it is undone, in state_directory()/manifests/RUNID.jsonl: one JSON object a line, first the
// run, then additions, notes and strike-outs. A line that was cut off by a crash is ignored: what
// it announced was not yet done. Owned by the run; all functions may be called from any thread.
// RUNID.lock is locked (flock) while the run lives.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/json.h"
#include "fleet/run_identity.h"
#include "job/plan.h"

namespace cephmark {

enum class ResourceKind : uint8_t {
  kImage,      ///< target pool/[ns/]image; notes: image_id
  kObject,     ///< target pool/[ns/]object
  kPool,       ///< target pool
  kFile,       ///< target absolute path; notes: device, inode
  kDirectory,  ///< target absolute path
  kSetting,    ///< image metadata; target image, notes: key, old (absent: there was none)
  kFlag,       ///< an OSD flag of the cluster: noout
};
std::string_view resource_kind_name(ResourceKind kind);

struct ManifestEntry {
  int id = 0;  ///< given by the manifest
  ResourceKind kind = ResourceKind::kFile;
  std::string target;
  std::map<std::string, std::string> notes;
};

/// A manifest as it stands on disk.
struct ManifestContent {
  std::string path;
  RunIdentity identity;
  CephTarget ceph;
  std::string fsid;                 ///< empty: no cluster in use
  std::vector<uint64_t> instances;  ///< librados instance ids of the run: its watchers are client.N
  std::vector<ManifestEntry> open;  ///< not struck out, in the order of making
};

std::string manifest_directory();

class Manifest {
 public:
  /// Starts the manifest of this process's run and takes its lock. Throws Error.
  static std::unique_ptr<Manifest> create(const std::string& run_id, const CephTarget& ceph = {},
                                          const std::string& fsid = "");
  /// A manifest that is left over: null when another process (the run itself, or a clean-up) holds
  /// its lock.
  static std::unique_ptr<Manifest> take_over(const std::string& path);
  ~Manifest();  ///< leaves on disk what is not struck out; removes an empty manifest

  const RunIdentity& identity() const { return content_.identity; }
  const ManifestContent& content() const {
    return content_;
  }  ///< only while no other thread writes
  void set_cluster(const CephTarget& ceph, const std::string& fsid);
  void add_instance(uint64_t instance);
  /// Stays on disk even when nothing in it is open: the run could not close its images, and their
  /// watchers, which outlive it for a while, must be known as a dead run's.
  void keep_for_watchers() { kept_ = true; }

  /// Durable when it returns: only then make the thing.
  int begin(ResourceKind kind, const std::string& target,
            const std::map<std::string, std::string>& notes = {});
  /// Many at once, with one sync. Returns the first id; the others follow it.
  int begin_all(const std::vector<ManifestEntry>& entries);
  void note(int id, const std::string& key, const std::string& value);
  /// The thing is undone, or is to stay.
  void strike_out(int id);
  size_t open_count() const;

 private:
  Manifest() = default;
  void append(const std::vector<Json>& lines, bool sync);

  mutable std::mutex mutex_;
  ManifestContent content_;
  UniqueFd file_, lock_;
  int next_id_ = 1;
  bool kept_ = false;
};

/// All manifests on disk (those that cannot be read are named in `unreadable`), oldest first.
std::vector<ManifestContent> list_manifests(std::vector<std::string>* unreadable = nullptr);
ManifestContent load_manifest(const std::string& path);
/// Alive: its lock is held, or its process lives.
bool manifest_is_live(const ManifestContent& content);
/// False when the run's process is dead, and also when it lives but has ended that run: the lock of
/// its manifest is gone although manifests of this process can be seen here.
bool run_is_under_way(const RunIdentity& run);

}  // namespace cephmark
