#include "compat/sysbench_plan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cephmark {
namespace {

SysbenchArguments arguments_of(std::vector<std::string> words) {
  std::vector<std::string> told;
  std::vector<std::string> argv = {
      "sysbench", "fileio", "--file-test-mode=rndrd", "--file-num=4", "--file-total-size=64M",
      "run"};
  argv.insert(argv.end(), words.begin(), words.end());
  return parse_sysbench_arguments(argv, told);
}

double access_of(const Distribution& distribution, uint64_t from_bytes, uint64_t to_bytes) {
  double access = 0;
  uint64_t at = 0;
  for (const DistributionZone& zone : distribution.zones) {
    if (at >= from_bytes && at + zone.size_bytes <= to_bytes) access += zone.access_percent;
    at += zone.size_bytes;
  }
  return access;
}

TEST(SysbenchPlan, ThreadsAreClonesOnAllFiles) {
  const Plan plan = make_sysbench_plan(arguments_of({"--threads=3", "--time=7"}), {"sysbench"});
  ASSERT_EQ(plan.vms.size(), 1u);
  ASSERT_EQ(plan.vms[0].jobs.size(), 1u);
  const JobSpec& job = plan.vms[0].jobs[0];
  EXPECT_EQ(job.numjobs, 3);
  EXPECT_EQ(job.ioengine, "psync");
  EXPECT_THAT(job.filenames,
              testing::ElementsAre("test_file.0", "test_file.1", "test_file.2", "test_file.3"));
  EXPECT_EQ(job.size.value, 64u << 20);
  EXPECT_EQ(job.runtime_ns, 7'000'000'000);
  EXPECT_TRUE(job.time_based && job.norandommap && !job.invalidate && !job.direct);
  EXPECT_TRUE(job.rw.reads && !job.rw.writes && job.rw.random);
}

TEST(SysbenchPlan, AnOddEndOfAFileIsLeftOut) {
  const Plan plan =
      make_sysbench_plan(arguments_of({"--file-num=3", "--file-total-size=1M"}), {"sysbench"});
  EXPECT_EQ(plan.vms[0].jobs[0].size.value, 3u * 21 * 16384);
}

TEST(SysbenchPlan, EventsAreDealtWithoutLoss) {
  for (const int events : {1, 2, 3, 10, 77}) {
    const Plan plan = make_sysbench_plan(
        arguments_of({"--threads=3", fmt::format("--events={}", events)}), {"sysbench"});
    uint64_t total = 0;
    for (const JobSpec& job : plan.vms[0].jobs) {
      EXPECT_FALSE(job.time_based);
      total += job.number_ios * static_cast<uint64_t>(job.numjobs);
    }
    EXPECT_EQ(total, static_cast<uint64_t>(events));
  }
}

TEST(SysbenchPlan, ARateIsSharedByTheThreads) {
  const JobSpec job =
      make_sysbench_plan(arguments_of({"--threads=16", "--rate=50"}), {"sysbench"}).vms[0].jobs[0];
  EXPECT_EQ(job.rate_process, RateProcess::kPoisson);
  EXPECT_EQ(job.rate_bytes_per_s[op_index(Op::kRead)] * 16, 50u * 16384);
}

TEST(SysbenchPlan, SpecialIsThreeQuartersInTheMiddleHundredth) {
  const Distribution special = sysbench_distribution(arguments_of({}));
  const uint64_t all = 64u << 20, block = 16384;
  EXPECT_NEAR(access_of(special, 0, all), 100, 1e-6);
  const uint64_t from = static_cast<uint64_t>(0.495 * 4096) * block;
  const double middle = access_of(special, from, all - from);
  EXPECT_GT(middle, 75);
  EXPECT_LT(middle, 77);
  // The rest is a bell around the middle: hardly anything in the outer quarters.
  EXPECT_LT(access_of(special, 0, all / 4), 0.2);
  EXPECT_NEAR(access_of(special, 0, all / 4), access_of(special, 3 * (all / 4), all), 1e-6);
}

TEST(SysbenchPlan, DistributionsFitFilesOfAFewBlocks) {
  for (const char* type : {"special", "gaussian", "pareto"}) {
    const Distribution few = sysbench_distribution(arguments_of(
        {fmt::format("--rand-type={}", type), "--file-num=1", "--file-total-size=48K"}));
    ASSERT_FALSE(few.zones.empty());
    uint64_t bytes = 0;
    double access = 0;
    for (const DistributionZone& zone : few.zones) {
      EXPECT_GE(zone.size_bytes, 16384u) << type;
      bytes += zone.size_bytes;
      access += zone.access_percent;
    }
    EXPECT_EQ(bytes, 3u * 16384) << type;
    EXPECT_NEAR(access, 100, 1e-6) << type;
  }
}

TEST(SysbenchPlan, ParetoPrefersTheFront) {
  const Distribution pareto = sysbench_distribution(arguments_of({"--rand-type=pareto"}));
  // h = 0.2: eighty per cent of the requests go to a fifth of the blocks.
  EXPECT_NEAR(access_of(pareto, 0, (64u << 20) / 5), 80, 1);
}

TEST(SysbenchPlan, WhatIsNotThereIsNamed) {
  EXPECT_FALSE(not_run_yet(arguments_of({})));
  EXPECT_FALSE(not_run_yet(arguments_of({"--file-io-mode=async", "--file-extra-flags=direct"})));
  EXPECT_EQ(not_run_yet(arguments_of({"--file-test-mode=rndwr"})),
            "--file-test-mode=rndwr is not there yet: rndrd is");
  EXPECT_TRUE(not_run_yet(arguments_of({"--file-io-mode=mmap"})));
  EXPECT_TRUE(not_run_yet(arguments_of({"--validate"})));
  EXPECT_TRUE(not_run_yet(arguments_of({"--file-extra-flags=dsync"})));
}

}  // namespace
}  // namespace cephmark
