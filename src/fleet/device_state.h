// device_state: who uses a block device, and what stands on it. Looks at the device itself, its
// partitions and every dm and md device above them (field report SAF-02: the whole disk of a
// mounted partition), not just the given node. Reads only. Any thread.
#pragma once

#include <sys/types.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "fleet/safety_table.h"

namespace cephmark {

/// Where the kernel's view is read; tests name directories of their own.
struct SystemView {
  std::string proc = "/proc";
  std::string sys = "/sys";
};

/// The states that hold of one target and, for each, the words that tell a person what was found.
struct StateReport {
  struct Finding {
    TargetState state = TargetState::kUnknown;
    std::string detail;  ///< "/dev/sdb1 is mounted on /srv"; may be empty
  };
  std::vector<Finding> findings;

  void add(TargetState state, std::string detail = "");
  bool has(TargetState state) const;
  std::vector<TargetState> states() const;
  std::string detail_of(TargetState state) const;  ///< "" when it has none
};

/// One device of the tree that stands on the target.
struct BlockNode {
  dev_t number = 0;
  std::string name;  ///< kernel name: "sdb1", "dm-3"
  bool is_partition = false;
};

/// The partitions of the device and all dm, md and bcache devices above it or them, the device
/// itself first. For a partition also what stands on the whole disk (multipath).
std::vector<BlockNode> block_tree(dev_t device, const SystemView& view = {});

struct MountEntry {
  dev_t device = 0;
  std::string source;  ///< "/dev/sdb1"
  std::string point;
};
/// Mounts and active swap areas of the view (swap: point "[swap]").
std::vector<MountEntry> read_mounts(const SystemView& view = {});

/// Pids of running ceph-osd processes that have one of `devices` open or, for a regular file, the
/// file (device, inode).
std::vector<int> osds_holding(const std::vector<dev_t>& devices, dev_t file_device, ino_t inode,
                              const SystemView& view = {});

/// The regular files that running ceph-osd processes have open, by device and inode, with the pids.
std::map<std::pair<dev_t, ino_t>, std::set<int>> files_of_osds(const SystemView& view = {});

/// Examines an existing block device node. Never throws for what it cannot see: that is kUnknown.
StateReport examine_block_device(const std::string& path, const SystemView& view = {});

/// The part that needs no device node: mounts and holders of the tree of `device`.
void examine_use(dev_t device, const std::string& path, const SystemView& view,
                 StateReport& report);

}  // namespace cephmark
