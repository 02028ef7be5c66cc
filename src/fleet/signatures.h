// signatures: what a block device or file carries that shows that somebody uses it: partition
// tables, file systems, swap, LVM, LUKS, md (by libblkid, every one found, not just the first) and
// the label of a BlueStore OSD. Pure reading, any thread.
#pragma once

#include <string>
#include <vector>

#include "fleet/safety_table.h"

namespace cephmark {

struct Signature {
  TargetState state = TargetState::kFileSystem;
  std::string name;  ///< as blkid calls it: "ext4", "gpt", "LVM2_member", "ceph_bluestore"
};

/// All signatures of the open file or block device. `path` is for errors. Throws Error when it
/// cannot be read.
std::vector<Signature> probe_signatures(int fd, const std::string& path);
std::vector<Signature> probe_signatures(const std::string& path);

/// The label that ceph-osd writes at offset 0 of its main device ("bluestore block device").
bool has_bluestore_label(int fd);

}  // namespace cephmark
