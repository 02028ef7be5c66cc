#include "compat/rbd_plan.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <numeric>

namespace cephmark {
namespace {

Plan rbd_plan_of(const RbdArguments& arguments, uint64_t image_bytes, bool compat = true) {
  return make_rbd_bench_plan(arguments, {"rbd", "", "b1", image_bytes}, {"rbd"}, compat, 42);
}

// Whole I/Os, no gap and no overlap, the longer parts first: the original leaves what does not
// divide untouched.
TEST(RbdPlan, SequentialPartsMakeUpTheImage) {
  for (const uint64_t blocks : {1, 15, 16, 17, 1000}) {
    RbdArguments arguments;
    arguments.type = RbdBenchType::kWrite;
    const Plan plan = rbd_plan_of(arguments, blocks * 4096 + 100);
    uint64_t at = 0, ios = 0;
    for (const JobSpec& job : plan.vms[0].jobs) {
      EXPECT_EQ(job.offset.value, at);
      EXPECT_EQ(job.iodepth, 1u);
      EXPECT_EQ(job.numjobs, 1);
      EXPECT_GT(job.size.value, 0u);
      at += job.size.value;
      ios += job.number_ios;
    }
    EXPECT_EQ(at, blocks * 4096);
    EXPECT_EQ(ios, (uint64_t{1} << 30) / 4096);
    EXPECT_EQ(plan.vms[0].jobs.size(), std::min<uint64_t>(16, blocks));
  }
}

TEST(RbdPlan, FewIosNeedFewThreads) {
  RbdArguments arguments;
  arguments.io_total_bytes = 10'000;  // three I/Os: the last is not whole
  const Plan plan = rbd_plan_of(arguments, 1 << 20);
  ASSERT_EQ(plan.vms[0].jobs.size(), 3u);
  for (const JobSpec& job : plan.vms[0].jobs) EXPECT_EQ(job.number_ios, 1u);
}

TEST(RbdPlan, RandomAndFullSequentialAreOneJobOfThatDepth) {
  for (const auto pattern : {RbdBenchPattern::kRandom, RbdBenchPattern::kFullSequential}) {
    RbdArguments arguments;
    arguments.type = RbdBenchType::kReadWrite;
    arguments.pattern = pattern;
    arguments.rw_mix_read = 70;
    const Plan plan = rbd_plan_of(arguments, 1 << 20);
    ASSERT_EQ(plan.vms[0].jobs.size(), 1u);
    const JobSpec& job = plan.vms[0].jobs[0];
    EXPECT_EQ(job.iodepth, 16u);
    EXPECT_EQ(job.rw.random, pattern == RbdBenchPattern::kRandom);
    EXPECT_EQ(job.rwmixread, 70);
    EXPECT_TRUE(job.end_fsync);
  }
}

TEST(RbdPlan, ARunTimeAloneEndsTheRun) {
  RbdArguments arguments;
  arguments.run_time_ns = 5'000'000'000;
  EXPECT_TRUE(rbd_plan_of(arguments, 1 << 20).vms[0].jobs[0].time_based);
  EXPECT_EQ(rbd_plan_of(arguments, 1 << 20).vms[0].jobs[0].number_ios, 0u);
  arguments.io_total_given = true;  // whichever comes first
  EXPECT_FALSE(rbd_plan_of(arguments, 1 << 20).vms[0].jobs[0].time_based);
  EXPECT_GT(rbd_plan_of(arguments, 1 << 20).vms[0].jobs[0].number_ios, 0u);
}

TEST(RbdPlan, ThePayloadIsOneByteInCompatAndRandomElse) {
  RbdArguments arguments;
  EXPECT_EQ(rbd_plan_of(arguments, 1 << 20).vms[0].jobs[0].fill_byte, 42);
  EXPECT_EQ(rbd_plan_of(arguments, 1 << 20, false).vms[0].jobs[0].fill_byte, -1);
  arguments.payload = {RbdBenchPayload::Kind::kByte, 7};
  EXPECT_EQ(rbd_plan_of(arguments, 1 << 20, false).vms[0].jobs[0].fill_byte, 7);
  arguments.payload.kind = RbdBenchPayload::Kind::kRandom;
  EXPECT_EQ(rbd_plan_of(arguments, 1 << 20).vms[0].jobs[0].fill_byte, -1);
}

TEST(RbdPlan, AnIoLargerThanTheImageIsRefused) {
  RbdArguments arguments;
  arguments.io_size_bytes = uint64_t{1} << 30;
  try {
    rbd_plan_of(arguments, 256 << 20);
    FAIL();
  } catch (const RbdRefusal& refusal) {
    EXPECT_STREQ(refusal.what(), "io-size 1 GiB larger than image size 256 MiB");
    EXPECT_EQ(refusal.exit_code(), EINVAL);
  }
  arguments.io_size_bytes = uint64_t{1} << 32;
  EXPECT_THROW(rbd_plan_of(arguments, uint64_t{1} << 40), RbdRefusal);
}

}  // namespace
}  // namespace cephmark
