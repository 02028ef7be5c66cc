// The mmap engine beyond what the contract tests ask of every engine.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "engine/engine_table.h"
#include "support/temporary_directory.h"

namespace cephmark {
namespace {

constexpr uint64_t kFileBytes = 64 << 10, kPage = 4096;

class MmapEngineTest : public testing::Test {
 protected:
  MmapEngineTest() {
    job_.name = "j";
    job_.ioengine = "mmap";
    job_.filenames = {path_};
    job_.size = {SizeSpec::Kind::kBytes, kFileBytes};
    job_.rw.writes = true;
    const Plan plan;
    const VmPlan vm;
    engine_ = find_engine("mmap")->create(job_, EngineContext{plan, vm});
    info_ = engine_->open();
    queue_ = engine_->make_queue({.job = &job_});
  }
  ~MmapEngineTest() override {
    queue_.reset();
    engine_->close();
  }

  int64_t do_one(Op op, uint64_t offset, char fill = 0) {
    memory_.assign(kPage, static_cast<std::byte>(fill));
    IoRequest request;
    request.op = op;
    request.offset = offset;
    request.length = op == Op::kFlush ? 0 : kPage;
    request.buffer = memory_.data();
    IoRequest* batch[1] = {&request};
    EXPECT_EQ(queue_->submit(batch), 1);
    return request.result;
  }

  testing_support::TemporaryDirectory scratch_;
  const std::string path_ = scratch_.path() + "/file";
  JobSpec job_;
  std::unique_ptr<Engine> engine_;
  TargetInfo info_;
  std::unique_ptr<IoQueue> queue_;
  std::vector<std::byte> memory_;
};

TEST_F(MmapEngineTest, WhatIsWrittenStandsInTheFile) {
  EXPECT_EQ(info_.size_bytes, kFileBytes);
  EXPECT_EQ(do_one(Op::kWrite, kPage, 'x'), static_cast<int64_t>(kPage));
  EXPECT_EQ(do_one(Op::kFlush, 0), 0);
  std::ifstream file(path_);
  file.seekg(kPage);
  EXPECT_EQ(file.get(), 'x');
  EXPECT_EQ(do_one(Op::kRead, kPage), static_cast<int64_t>(kPage));
  EXPECT_EQ(memory_.back(), std::byte{'x'});
}

TEST_F(MmapEngineTest, AFileThatBecomesShorterIsAnErrorAndNoCrash) {
  ASSERT_EQ(::truncate(path_.c_str(), kPage), 0);
  EXPECT_EQ(do_one(Op::kRead, 8 * kPage), -EIO);
  EXPECT_EQ(do_one(Op::kWrite, 8 * kPage, 'x'), -EIO);
  EXPECT_EQ(do_one(Op::kRead, 0), static_cast<int64_t>(kPage));
}

TEST_F(MmapEngineTest, AMappingDoesNotGrow) {
  EXPECT_EQ(do_one(Op::kRead, kFileBytes - kPage / 2), static_cast<int64_t>(kPage / 2));
  EXPECT_EQ(do_one(Op::kRead, kFileBytes), 0);
  EXPECT_EQ(do_one(Op::kWrite, kFileBytes - kPage / 2), -EFBIG);
}

}  // namespace
}  // namespace cephmark
