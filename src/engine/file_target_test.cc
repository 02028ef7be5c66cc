#include "engine/file_target.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "engine/file_engine.h"
#include "support/temporary_directory.h"

namespace cephmark {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FileTargetTest : public testing::Test {
 protected:
  FileTargetTest() {
    job_.name = "j";
    job_.directory = directory_;
    job_.rw.reads = false;
    job_.rw.writes = true;
    job_.size = {SizeSpec::Kind::kBytes, 65536};
  }

  std::string failure() {
    try {
      FileTarget::open(job_, guard_);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  size_t file_count() const {
    return std::distance(fs::directory_iterator(directory_), fs::directory_iterator());
  }

  testing_support::TemporaryDirectory scratch_;
  const std::string directory_ = scratch_.path();
  JobSpec job_;
  FileGuard guard_;
};

TEST_F(FileTargetTest, TheGuardIsAskedOncePerFileNotPerClone) {
  job_.filenames = {"shared"};
  job_.numjobs = 20;
  int asked = 0;
  guard_ = [&](const FileAccess& access) {
    if (access.path.ends_with("/shared")) ++asked;
  };
  EXPECT_EQ(FileTarget::open(job_, guard_).files().size(), 20u);
  // A guard may be told of the file once more when it has been made.
  EXPECT_LE(asked, 2);
  EXPECT_GE(asked, 1);
}

TEST_F(FileTargetTest, FilesThatDoNotFitTogetherAreRefusedBeforeTheFirstIsMade) {
  const uint64_t free_bytes = fs::space(directory_).available;
  job_.size.value = free_bytes / 3;
  job_.numjobs = 4;
  EXPECT_THAT(failure(), HasSubstr("free"));
  EXPECT_EQ(file_count(), 0u);
}

TEST_F(FileTargetTest, AfterAFailureNoneOfItsFilesIsLeft) {
  job_.filenames = {"a", "b"};
  guard_ = [](const FileAccess& access) {
    if (access.path.ends_with("/b")) throw Error("no");
  };
  EXPECT_EQ(failure(), "no");
  EXPECT_EQ(file_count(), 0u);
}

TEST_F(FileTargetTest, MoreFilesThanMayBeOpenAreRefusedBeforeTheFirst) {
  Plan plan;
  plan.vms.resize(1);
  plan.vms[0].jobs = {job_};
  EXPECT_NO_THROW(check_open_files(plan));
  plan.vms[0].jobs[0].nrfiles = 1 << 24;
  plan.vms[0].jobs[0].numjobs = 4096;
  try {
    check_open_files(plan);
    FAIL() << "68 thousand million descriptors";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("have 68719476736 files open at once"));
    EXPECT_THAT(error.hint(), HasSubstr("ulimit -n"));
  }
  plan.vms[0].jobs[0].ioengine = "null";
  EXPECT_NO_THROW(check_open_files(plan));
}

TEST_F(FileTargetTest, APipeIsNoTargetAndIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo((directory_ + "/pipe").c_str(), 0600), 0);
  job_.filenames = {"pipe"};
  EXPECT_THAT(failure(), HasSubstr("neither a regular file nor a block device"));
}

TEST_F(FileTargetTest, AMissingDirectoryIsNamedInTheHint) {
  job_.filenames = {"no/such/file"};
  try {
    FileTarget::open(job_, guard_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.hint(), HasSubstr("mkdir -p " + directory_ + "/no/such"));
  }
}

TEST_F(FileTargetTest, SyncIsAFlagOfTheDescriptor) {
  for (const auto& [sync, flag] :
       {std::pair{SyncWrites::kNone, 0}, std::pair{SyncWrites::kSync, O_SYNC},
        std::pair{SyncWrites::kDsync, O_DSYNC}}) {
    job_.sync = sync;
    const FileTarget target = FileTarget::open(job_, guard_);
    EXPECT_EQ(::fcntl(target.files().at(0).fd.get(), F_GETFL) & O_SYNC, flag);
  }
}

TEST_F(FileTargetTest, OverwriteLaysOutWhatIsOnlyWritten) {
  const auto blocks = [&] {
    const FileTarget target = FileTarget::open(job_, guard_);
    struct stat facts {};
    EXPECT_EQ(::stat(target.files().at(0).path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_size, 65536);
    return facts.st_blocks;
  };
  EXPECT_EQ(blocks(), 0);
  job_.name = "k";
  job_.overwrite = true;
  EXPECT_GT(blocks(), 0);
}

TEST_F(FileTargetTest, FilesThatGrowBeginShort) {
  job_.grow_files = true;
  const FileTarget target = FileTarget::open(job_, guard_);
  EXPECT_EQ(fs::file_size(target.files().at(0).path), 0u);
  EXPECT_EQ(target.files().at(0).size_bytes, 65536u);
}

TEST_F(FileTargetTest, ClonesThatShareTheirWorkShareTheFiles) {
  job_.filenames = {"a", "b"};
  job_.numjobs = 20;
  job_.clones_share = true;
  const FileTarget target = FileTarget::open(job_, guard_);
  EXPECT_EQ(target.files().size(), 2u);
  EXPECT_EQ(target.clone_fds(19), target.clone_fds(0));
}

TEST_F(FileTargetTest, MayMakeFilesInMemoryButNoneAmongTheDevices) {
  job_.directory = "/dev";
  EXPECT_THAT(failure(), HasSubstr("never created under /dev"));
  if (::access("/dev/shm", W_OK) != 0) GTEST_SKIP() << "NOT TESTED: /dev/shm is not there";
  const std::string path = "/dev/shm/cephmark-file-target-" + std::to_string(::getpid());
  job_.directory.clear();
  job_.filenames = {path};
  { EXPECT_EQ(FileTarget::open(job_, guard_).files().at(0).path, path); }
  EXPECT_TRUE(fs::remove(path));
}

}  // namespace
}  // namespace cephmark
