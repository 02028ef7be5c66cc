#include "output/vm_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "support/temporary_directory.h"

namespace cephmark {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class VmFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 2; ++i) {
      VmPlan vm;
      vm.index = i;
      vm.host = "node-a";
      vm.job_text = fmt::format("[write-4K]\nrbdname=node-a-{}\n", i);
      plan_.vms.push_back(vm);
    }
    plan_.title = "write-4k.fio";
  }
  void run_once(const std::string& report) {
    VmFiles::create(plan_, "here", base_).write(plan_, [&](size_t vm) {
      return fmt::format("{} {}", report, vm);
    });
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(base_))
      found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  }

  testing_support::TemporaryDirectory scratch_;
  const std::string base_ = scratch_.path() + "/results";
  Plan plan_;
};

TEST_F(VmFilesTest, APlaceThatCanNeverHoldThemIsRefusedBeforeTheRun) {
  VmFiles::require_place(base_);
  VmFiles::require_place(base_ + "/deeper/down");
  EXPECT_FALSE(fs::exists(base_));
  write_file_atomically(base_, "a file");
  for (const std::string& place : {base_, base_ + "/below"})
    EXPECT_THAT([&] { VmFiles::require_place(place); },
                testing::ThrowsMessage<Error>(HasSubstr(base_ + ": is no directory")));
}

TEST_F(VmFilesTest, FilesHaveTheNamesThatPeopleKnow) {
  run_once("report");
  EXPECT_EQ(read_file(base_ + "/write-4k.fio_proc_2/job_file_node-a_proc_1"),
            plan_.vms[1].job_text);
  EXPECT_EQ(read_file(base_ + "/write-4k.fio_proc_2/test_result_node-a_proc_0"), "report 0");
  plan_.vms[0].host.clear();
  plan_.title = "../x";
  EXPECT_EQ(VmFiles::create(plan_, "here", base_).job_file(0),
            base_ + "/.._x_proc_2/job_file_here_proc_0");
}

TEST_F(VmFilesTest, AnOlderRunIsMovedAsideWithItsTime) {
  run_once("first");
  const std::string path = base_ + "/write-4k.fio_proc_2";
  const timespec times[2] = {{1796047509, 0}, {1796047509, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  run_once("second");
  EXPECT_EQ(read_file(path + "/test_result_node-a_proc_0"), "second 0");
  ASSERT_EQ(names().size(), 2u);
  EXPECT_THAT(names()[1], testing::MatchesRegex(
                              "write-4k.fio_proc_2.20[0-9]+-[0-9]+-[0-9]+T[0-9]+-[0-9]+-[0-9]+"));
  EXPECT_EQ(read_file(base_ + "/" + names()[1] + "/test_result_node-a_proc_0"), "first 0");

  // The same time once more: the names stay apart.
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  run_once("third");
  ASSERT_EQ(names().size(), 3u);
  EXPECT_EQ(names()[2], names()[1] + "-2");
  EXPECT_EQ(read_file(base_ + "/" + names()[2] + "/test_result_node-a_proc_0"), "second 0");
}

TEST_F(VmFilesTest, ARunThatWroteNothingLeavesTheOlderOneInPlace) {
  run_once("first");
  { const VmFiles unused = VmFiles::create(plan_, "here", base_); }
  EXPECT_EQ(names(), std::vector<std::string>{"write-4k.fio_proc_2"});
  EXPECT_EQ(read_file(base_ + "/write-4k.fio_proc_2/test_result_node-a_proc_0"), "first 0");
}

TEST_F(VmFilesTest, ADirectoryThatIsBeingWrittenIsRefused) {
  const VmFiles running = VmFiles::create(plan_, "here", base_);
  try {
    VmFiles::create(plan_, "here", base_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("is being written by another run"));
  }
  EXPECT_EQ(names().size(), 1u);
}

}  // namespace
}  // namespace cephmark
