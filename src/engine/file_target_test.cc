#include "engine/file_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
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
