#include "fleet/signatures.h"

#include <blkid/blkid.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "base/fd.h"

namespace cephmark {
namespace {

constexpr std::string_view kBlueStoreMagic = "bluestore block device";

struct FreeProbe {
  void operator()(blkid_struct_probe* probe) const { blkid_free_probe(probe); }
};
using Probe = std::unique_ptr<blkid_struct_probe, FreeProbe>;

std::string value_of(blkid_probe probe, const char* name) {
  const char* data = nullptr;
  size_t length = 0;
  if (blkid_probe_lookup_value(probe, name, &data, &length) || !data) return "";
  return std::string(data, strnlen(data, length));
}

TargetState state_of(const std::string& type) {
  if (type == "ceph_bluestore") return TargetState::kBlueStoreLabel;
  if (type == "LVM2_member" || type == "LVM1_member") return TargetState::kLvmLabel;
  if (type == "crypto_LUKS") return TargetState::kLuksHeader;
  if (type == "linux_raid_member") return TargetState::kMdSuperblock;
  return TargetState::kFileSystem;
}

Probe new_probe(int fd, const std::string& path) {
  errno = 0;
  Probe probe(blkid_new_probe());
  if (!probe || blkid_probe_set_device(probe.get(), fd, 0, 0))
    throw Error(fmt::format("cannot look for file systems on {}: {}", path,
                            errno_text(errno ? errno : EIO)));
  return probe;
}

void add(std::vector<Signature>& found, TargetState state, const std::string& name) {
  for (const auto& signature : found)
    if (signature.state == state && signature.name == name) return;
  found.push_back({state, name});
}

}  // namespace

bool has_bluestore_label(int fd) {
  char start[kBlueStoreMagic.size()];
  return ::pread(fd, start, sizeof start, 0) == static_cast<ssize_t>(sizeof start) &&
         std::string_view(start, sizeof start) == kBlueStoreMagic;
}

std::vector<Signature> probe_signatures(int fd, const std::string& path) {
  std::vector<Signature> found;
  if (has_bluestore_label(fd)) add(found, TargetState::kBlueStoreLabel, "ceph_bluestore");

  // The two chains are asked one after the other: together, a partition table hides an older file
  // system.
  const Probe blocks = new_probe(fd, path);
  blkid_probe_enable_superblocks(blocks.get(), 1);
  blkid_probe_set_superblocks_flags(blocks.get(), BLKID_SUBLKS_TYPE | BLKID_SUBLKS_BADCSUM);
  blkid_probe_enable_partitions(blocks.get(), 0);
  int outcome;
  while ((outcome = blkid_do_probe(blocks.get())) == 0) {
    const std::string type = value_of(blocks.get(), "TYPE");
    if (!type.empty()) add(found, state_of(type), type);
  }
  if (outcome < 0) throw Error(fmt::format("cannot read {} to look for file systems", path));

  const Probe parts = new_probe(fd, path);
  blkid_probe_enable_superblocks(parts.get(), 0);
  blkid_probe_enable_partitions(parts.get(), 1);
  blkid_probe_set_partitions_flags(parts.get(), BLKID_PARTS_FORCE_GPT);
  while ((outcome = blkid_do_probe(parts.get())) == 0) {
    const std::string type = value_of(parts.get(), "PTTYPE");
    if (!type.empty()) add(found, TargetState::kPartitionTable, type);
  }
  if (outcome < 0) throw Error(fmt::format("cannot read {} to look for a partition table", path));
  return found;
}

std::vector<Signature> probe_signatures(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) throw Error(fmt::format("cannot open {}: {}", path, errno_text(errno)));
  return probe_signatures(fd.get(), path);
}

}  // namespace cephmark
