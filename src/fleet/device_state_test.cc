// Signatures on plain files made by the real tools, and the tree of devices over a directory that
// looks like /sys.
#include "fleet/device_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/fd.h"
#include "base/subprocess.h"
#include "fleet/signatures.h"
#include "support/temporary_directory.h"

namespace cephmark {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;

class DeviceState : public testing::Test {
 protected:
  std::string image(const std::string& name, uint64_t bytes = 64 << 20) {
    std::string path = directory_ + "/" + name;
    write_file_atomically(path, "");
    EXPECT_EQ(::truncate(path.c_str(), bytes), 0);
    return path;
  }
  static std::vector<TargetState> states(const std::string& path) {
    std::vector<TargetState> out;
    for (const auto& signature : probe_signatures(path)) out.push_back(signature.state);
    return out;
  }
  /// Runs a tool that Debian keeps in sbin. False when it is not installed: the test says so.
  static bool tool(const std::vector<std::string>& argv) {
    std::vector<std::string> command = argv;
    if (fs::exists("/usr/sbin/" + argv[0])) command[0] = "/usr/sbin/" + argv[0];
    if (!fs::exists(command[0]) && find_program(command[0]).empty()) return false;
    run_or_throw(command);
    return true;
  }

  // A /sys and /proc of our own.
  void node(const std::string& below_devices, const std::string& number, bool partition = false) {
    const std::string path = view().sys + "/devices/" + below_devices;
    fs::create_directories(path + "/holders");
    write_file_atomically(path + "/dev", number + "\n");
    if (partition) write_file_atomically(path + "/partition", "1\n");
    fs::create_directories(view().sys + "/dev/block");
    fs::create_symlink(path, view().sys + "/dev/block/" + number);
  }
  void holder(const std::string& lower, const std::string& upper) {
    fs::create_symlink(
        view().sys + "/devices/" + upper,
        view().sys + "/devices/" + lower + "/holders/" + fs::path(upper).filename().string());
  }
  void mountinfo(const std::string& text) {
    fs::create_directories(view().proc + "/self");
    write_file_atomically(view().proc + "/self/mountinfo", text);
  }
  SystemView view() const { return {directory_ + "/proc", directory_ + "/sys"}; }

  testing_support::TemporaryDirectory scratch_;
  const std::string directory_ = scratch_.path();
};

#define NEEDS(call) \
  if (!(call)) GTEST_SKIP() << "NOT TESTED: a tool is not installed: " #call

TEST_F(DeviceState, AnEmptyDeviceHasNoSignature) {
  EXPECT_TRUE(probe_signatures(image("empty")).empty());
}

TEST_F(DeviceState, SeesExt4) {
  const auto path = image("ext4");
  NEEDS(tool({"mkfs.ext4", "-q", path}));
  EXPECT_THAT(states(path), Contains(TargetState::kFileSystem));
  EXPECT_EQ(probe_signatures(path)[0].name, "ext4");
}

TEST_F(DeviceState, SeesSwap) {
  const auto path = image("swap");
  NEEDS(tool({"mkswap", path}));
  EXPECT_THAT(states(path), Contains(TargetState::kFileSystem));
}

TEST_F(DeviceState, SeesAPartitionTableAndTheOlderFileSystemBelowIt) {
  const auto path = image("gpt");
  NEEDS(tool({"mkfs.ext4", "-q", "-b", "1024", path}));
  NEEDS(tool({"sgdisk", "-n", "1:2048:0", path}));
  EXPECT_THAT(states(path), Contains(TargetState::kPartitionTable));
}

TEST_F(DeviceState, SeesAGptWhoseProtectiveMbrWasOverwritten) {
  const auto path = image("gpt");
  NEEDS(tool({"sgdisk", "-n", "1:2048:0", path}));
  const UniqueFd fd(::open(path.c_str(), O_WRONLY));
  const std::string zeros(512, '\0');
  ASSERT_EQ(::pwrite(fd.get(), zeros.data(), zeros.size(), 0), 512);
  EXPECT_THAT(states(path), Contains(TargetState::kPartitionTable));
}

TEST_F(DeviceState, SeesLuks) {
  const auto path = image("luks");
  const auto key = directory_ + "/key";
  write_file_atomically(key, "only a test");
  NEEDS(tool({"cryptsetup", "luksFormat", "--batch-mode", "--pbkdf", "pbkdf2",
              "--pbkdf-force-iterations", "1000", "--key-file", key, path}));
  EXPECT_THAT(states(path), Contains(TargetState::kLuksHeader));
}

TEST_F(DeviceState, SeesAnLvmLabel) {
  // pvcreate takes block devices only; the label is "LABELONE" in one of the first four sectors
  // (lvm2 format text).
  const auto path = image("lvm");
  std::string sector(512, '\0');
  sector.replace(0, 8, "LABELONE");
  sector[8] = 1;
  sector[20] = 32;
  sector.replace(24, 8, "LVM2 001");
  const UniqueFd fd(::open(path.c_str(), O_WRONLY));
  ASSERT_EQ(::pwrite(fd.get(), sector.data(), sector.size(), 512), 512);
  EXPECT_THAT(states(path), Contains(TargetState::kLvmLabel));
}

TEST_F(DeviceState, SeesABlueStoreLabel) {
  const auto path = image("bluestore");
  const UniqueFd fd(::open(path.c_str(), O_WRONLY));
  const std::string label = "bluestore block device\n3f9a\n";
  ASSERT_EQ(::pwrite(fd.get(), label.data(), label.size(), 0), static_cast<ssize_t>(label.size()));
  EXPECT_THAT(states(path), Contains(TargetState::kBlueStoreLabel));
}

TEST_F(DeviceState, TheTreeHoldsPartitionsAndWhatStandsOnThem) {
  node("sda", "8:0");
  node("sda/sda1", "8:1", true);
  node("sda/sda2", "8:2", true);
  node("dm-0", "253:0");
  node("dm-1", "253:1");
  holder("sda/sda2", "dm-0");
  holder("dm-0", "dm-1");
  std::vector<std::string> names;
  for (const auto& entry : block_tree(makedev(8, 0), view())) names.push_back(entry.name);
  EXPECT_THAT(names, testing::UnorderedElementsAre("sda", "sda1", "sda2", "dm-0", "dm-1"));
}

TEST_F(DeviceState, AMountedPartitionRefusesTheWholeDisk) {
  node("sda", "8:0");
  node("sda/sda1", "8:1", true);
  mountinfo("36 35 8:1 / /srv\\040data rw - ext4 /dev/nowhere rw\n");
  StateReport report;
  examine_use(makedev(8, 0), "/dev/sda", view(), report);
  ASSERT_TRUE(report.has(TargetState::kChildMounted));
  EXPECT_THAT(report.detail_of(TargetState::kChildMounted), HasSubstr("sda1 on /srv data"));
  const auto decision =
      decide_all(TargetKind::kBlockDevice, report.states(), Action::kWriteJob, {true});
  EXPECT_EQ(decision.verdict, Verdict::kRefused);

  StateReport partition;
  examine_use(makedev(8, 1), "/dev/sda1", view(), partition);
  EXPECT_TRUE(partition.has(TargetState::kMounted));
}

TEST_F(DeviceState, AMountedVolumeAboveRefusesTheDiskBelow) {
  node("sda", "8:0");
  node("sda/sda2", "8:2", true);
  node("md0", "9:0");
  node("dm-1", "253:1");
  holder("sda/sda2", "md0");
  holder("md0", "dm-1");
  mountinfo("36 35 253:1 / / rw - xfs /dev/mapper/none rw\n");
  StateReport report;
  examine_use(makedev(8, 0), "/dev/sda", view(), report);
  EXPECT_TRUE(report.has(TargetState::kChildMounted));
  EXPECT_TRUE(report.has(TargetState::kHeld));
}

TEST_F(DeviceState, AnotherPartitionsMountDoesNotConcernThisOne) {
  node("sda", "8:0");
  node("sda/sda1", "8:1", true);
  node("sda/sda2", "8:2", true);
  mountinfo("36 35 8:1 / /srv rw - ext4 /dev/nowhere rw\n");
  StateReport report;
  examine_use(makedev(8, 2), "/dev/sda2", view(), report);
  EXPECT_TRUE(report.findings.empty());
}

TEST_F(DeviceState, ARunningOsdIsFoundByItsOpenFiles) {
  const auto path = image("block");
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  fs::create_directories(view().proc + "/4711/fd");
  write_file_atomically(view().proc + "/4711/comm", "ceph-osd\n");
  fs::create_symlink(path, view().proc + "/4711/fd/7");
  EXPECT_THAT(osds_holding({}, info.st_dev, info.st_ino, view()), testing::ElementsAre(4711));
  write_file_atomically(view().proc + "/4711/comm", "tail\n");
  EXPECT_TRUE(osds_holding({}, info.st_dev, info.st_ino, view()).empty());
}

TEST_F(DeviceState, WhatIsNoDeviceIsNotGuessedAt) {
  EXPECT_TRUE(examine_block_device(image("plain")).has(TargetState::kUnknown));
}

}  // namespace
}  // namespace cephmark
