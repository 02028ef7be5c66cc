// Real block devices: loop devices with what the real tools put on them, judged by
// examine_block_device and the safety table (field reports SAF-01, SAF-02, SAF-04). Needs root and
// loop devices; where they are missing every test says NOT TESTED and why.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/fd.h"
#include "base/subprocess.h"
#include "fleet/device_state.h"
#include "fleet/file_state.h"
#include "support/temporary_directory.h"

namespace cephmark {
namespace {

namespace fs = std::filesystem;

std::string sbin(const std::string& name) {
  return fs::exists("/usr/sbin/" + name) ? "/usr/sbin/" + name : name;
}

class LoopDevice : public testing::Test {
 protected:
  void SetUp() override {
    file_ = directory_ + "/disk";
    write_file_atomically(file_, "");
    ASSERT_EQ(::truncate(file_.c_str(), 96 << 20), 0);
    if (::geteuid() != 0) GTEST_SKIP() << "NOT TESTED: loop devices need root";
    const auto made = run_command({sbin("losetup"), "-P", "-f", "--show", file_});
    if (made.exit_code) GTEST_SKIP() << "NOT TESTED: no loop device to be had here: " << made.err;
    loop_ = made.out.substr(0, made.out.find('\n'));
    // The kernel keeps a loop device's read-only mark from one file to the next.
    ASSERT_EQ(run_command({sbin("blockdev"), "--setrw", loop_}).exit_code, 0);
  }
  void TearDown() override {
    if (mounted_) ::umount2(mount_point().c_str(), MNT_DETACH);
    if (!loop_.empty()) {
      run_command({sbin("blockdev"), "--setrw", loop_});
      run_command({sbin("losetup"), "-d", loop_});
    }
  }
  std::string mount_point() const { return directory_ + "/mnt"; }

  bool mount_it(const std::string& device) {
    fs::create_directories(mount_point());
    mounted_ = ::mount(device.c_str(), mount_point().c_str(), "ext4", 0, nullptr) == 0;
    return mounted_;
  }
  static Decision write_decision(const StateReport& report, bool granted) {
    return decide_all(TargetKind::kBlockDevice, report.states(), Action::kWriteJob, {granted});
  }
  /// Refused without --allow-write for this reason, and done with it.
  void expect_liftable(TargetState state) {
    const auto report = examine_block_device(loop_);
    EXPECT_TRUE(report.has(state)) << target_state_name(state);
    EXPECT_EQ(write_decision(report, false).verdict, Verdict::kRefused);
    EXPECT_EQ(write_decision(report, true).verdict, Verdict::kAllowed)
        << write_decision(report, true).reason;
  }
  void expect_never(const std::string& device, TargetState state) {
    const auto report = examine_block_device(device);
    EXPECT_TRUE(report.has(state)) << target_state_name(state);
    EXPECT_EQ(write_decision(report, true).verdict, Verdict::kRefused);
  }

  testing_support::TemporaryDirectory scratch_;
  const std::string directory_ = scratch_.path();
  std::string file_, loop_;
  bool mounted_ = false;
};

#define TOOL(...)                                                        \
  do {                                                                   \
    std::vector<std::string> argv_{__VA_ARGS__};                         \
    argv_[0] = sbin(argv_[0]);                                           \
    if (argv_[0][0] != '/' && find_program(argv_[0]).empty())            \
      GTEST_SKIP() << "NOT TESTED: " << argv_[0] << " is not installed"; \
    const auto result_ = run_command(argv_);                             \
    ASSERT_EQ(result_.exit_code, 0) << argv_[0] << ": " << result_.err;  \
  } while (0)

TEST_F(LoopDevice, AnEmptyDeviceMayBeWritten) {
  const auto report = examine_block_device(loop_);
  EXPECT_EQ(report.states(), std::vector{TargetState::kEmptyUntagged});
  EXPECT_EQ(write_decision(report, false).verdict, Verdict::kAllowed);
}

TEST_F(LoopDevice, TheFileBehindALoopDeviceIsHeld) {
  const auto state = examine_path(file_);
  EXPECT_TRUE(state.report.has(TargetState::kHeld));
  EXPECT_EQ(decide_all(state.kind, state.report.states(), Action::kWriteJob, {true}).verdict,
            Verdict::kRefused);
}

// SAF-01: what is on it is named, mounted or not.
TEST_F(LoopDevice, Ext4) {
  TOOL("mkfs.ext4", "-q", loop_);
  expect_liftable(TargetState::kFileSystem);
}

TEST_F(LoopDevice, MountedExt4) {
  TOOL("mkfs.ext4", "-q", loop_);
  if (!mount_it(loop_)) GTEST_SKIP() << "NOT TESTED: mount: " << errno_text(errno);
  expect_never(loop_, TargetState::kMounted);
}

TEST_F(LoopDevice, Gpt) {
  TOOL("sgdisk", "-n", "1:2048:0", loop_);
  expect_liftable(TargetState::kPartitionTable);
}

// SAF-02
TEST_F(LoopDevice, TheDiskWhosePartitionIsMounted) {
  TOOL("sgdisk", "-n", "1:2048:0", loop_);
  TOOL("partprobe", loop_);
  const std::string partition = loop_ + "p1";
  const fs::path number = "/sys/class/block/" + fs::path(partition).filename().string() + "/dev";
  if (!fs::exists(number))
    GTEST_SKIP() << "NOT TESTED: the kernel shows no partitions of loop devices here";
  std::string node = partition;
  if (!fs::exists(partition)) {  // no udev here: a node of our own for the same device
    const std::string text = read_file(number.string());
    node = directory_ + "/p1";
    const auto colon = text.find(':');
    TOOL("mknod", node, "b", text.substr(0, colon),
         text.substr(colon + 1, text.find('\n') - colon - 1));
  }
  TOOL("mkfs.ext4", "-q", node);
  if (!mount_it(node)) GTEST_SKIP() << "NOT TESTED: mount: " << errno_text(errno);
  expect_never(loop_, TargetState::kChildMounted);
  expect_never(node, TargetState::kMounted);
}

TEST_F(LoopDevice, LvmPhysicalVolume) {
  TOOL("pvcreate", "-f", "--config", "devices{use_devicesfile=0}", loop_);
  expect_liftable(TargetState::kLvmLabel);
}

TEST_F(LoopDevice, Luks) {
  const auto key = directory_ + "/key";
  write_file_atomically(key, "only a test");
  TOOL("cryptsetup", "luksFormat", "--batch-mode", "--pbkdf", "pbkdf2", "--pbkdf-force-iterations",
       "1000", "--key-file", key, loop_);
  expect_liftable(TargetState::kLuksHeader);
}

TEST_F(LoopDevice, MdMember) {
  const UniqueFd fd(::open(loop_.c_str(), O_WRONLY));
  // The superblock of metadata 1.2 as mdadm writes it, 4 KiB from the start: magic, version 1.
  std::string superblock(4096, '\0');
  const auto le32 = [&](size_t at, uint32_t value) {
    for (int i = 0; i < 4; ++i) superblock[at + i] = static_cast<char>(value >> (8 * i));
  };
  le32(0, 0xa92b4efc);
  le32(4, 1);
  le32(144, 8);  // super_offset, in sectors
  ASSERT_EQ(::pwrite(fd.get(), superblock.data(), superblock.size(), 4096), 4096);
  expect_liftable(TargetState::kMdSuperblock);
}

// SAF-04
TEST_F(LoopDevice, ACopyOfAnOsdsStore) {
  std::string label = "bluestore block device\n4d1c\n";
  if (const char* store = std::getenv("CEPHMARK_OSD_BLOCK")) {  // the first blocks of a real one
    const UniqueFd source(::open(store, O_RDONLY));
    label.resize(8192);
    ASSERT_EQ(::pread(source.get(), label.data(), label.size(), 0),
              static_cast<ssize_t>(label.size()))
        << store;
  }
  const UniqueFd fd(::open(loop_.c_str(), O_WRONLY));
  ASSERT_EQ(::pwrite(fd.get(), label.data(), label.size(), 0), static_cast<ssize_t>(label.size()));
  expect_never(loop_, TargetState::kBlueStoreLabel);
}

TEST_F(LoopDevice, HeldByAnotherProgram) {
  const UniqueFd holder(::open(loop_.c_str(), O_RDONLY | O_EXCL));
  ASSERT_TRUE(holder) << errno_text(errno);
  expect_never(loop_, TargetState::kHeld);
}

TEST_F(LoopDevice, AReadOnlyDevice) {
  TOOL("blockdev", "--setro", loop_);
  expect_never(loop_, TargetState::kReadOnly);
}

}  // namespace
}  // namespace cephmark
