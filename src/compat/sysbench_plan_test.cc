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

JobSpec job_of(std::vector<std::string> words) {
  return make_sysbench_plan(arguments_of(std::move(words)), {"sysbench"}).vms[0].jobs.at(0);
}

TEST(SysbenchPlan, OnlySequentialRunsDoTheOddEndOfAFile) {
  const std::vector<std::string> odd = {"--file-num=3", "--file-total-size=1M"};
  EXPECT_EQ(job_of(odd).size.value, 3u * 21 * 16384);
  std::vector<std::string> words = odd;
  words.emplace_back("--file-test-mode=seqrd");
  EXPECT_EQ(job_of(words).size.value, 3u * (1048576 / 3));
  for (const char* whole : {"--file-extra-flags=direct", "--validate"}) {
    words = odd;
    words.insert(words.end(), {"--file-test-mode=seqrd", whole});
    EXPECT_EQ(job_of(words).size.value, 3u * 21 * 16384) << whole;
  }
}

TEST(SysbenchPlan, ThreadsShareEventsAndHaveTheirPartOfARate) {
  const JobSpec job = job_of({"--threads=16", "--rate=50", "--events=77"});
  EXPECT_TRUE(job.clones_share);
  EXPECT_EQ(job.number_ios, 77u);
  EXPECT_FALSE(job.time_based);
  EXPECT_EQ(job.rate_process, RateProcess::kPoisson);
  EXPECT_DOUBLE_EQ(job.event_rate * 16, 50);
}

TEST(SysbenchPlan, EachModeHasItsPattern) {
  struct Row {
    const char* mode;
    bool reads, writes, random, grows;
  };
  for (const Row& row : {Row{"seqwr", false, true, false, true},
                         {"seqrewr", false, true, false, false},
                         {"seqrd", true, false, false, false},
                         {"rndrd", true, false, true, false},
                         {"rndwr", false, true, true, false},
                         {"rndrw", true, true, true, false}}) {
    const JobSpec job = job_of({fmt::format("--file-test-mode={}", row.mode)});
    EXPECT_EQ(job.rw.reads, row.reads) << row.mode;
    EXPECT_EQ(job.rw.writes, row.writes) << row.mode;
    EXPECT_EQ(job.rw.random, row.random) << row.mode;
    EXPECT_EQ(job.grow_files, row.grows) << row.mode;
    EXPECT_EQ(job.rw_ratio.has_value(), row.reads && row.writes) << row.mode;
    EXPECT_EQ(job.flush_all, row.writes ? 100 : 0) << row.mode;
    EXPECT_EQ(job.end_fsync, row.writes) << row.mode;
    EXPECT_TRUE(job.zero_buffers) << row.mode;
  }
}

TEST(SysbenchPlan, EnginesFlagsAndFlushes) {
  EXPECT_EQ(job_of({"--file-io-mode=async", "--file-async-backlog=9"}).ioengine, "libaio");
  EXPECT_EQ(job_of({"--file-io-mode=async", "--file-async-backlog=9"}).iodepth, 9u);
  EXPECT_EQ(job_of({"--file-io-mode=mmap"}).ioengine, "mmap");
  EXPECT_FALSE(job_of({"--file-test-mode=seqwr", "--file-io-mode=mmap"}).grow_files);
  EXPECT_EQ(job_of({"--file-extra-flags=dsync"}).sync, SyncWrites::kDsync);
  EXPECT_EQ(job_of({"--file-extra-flags=sync"}).sync, SyncWrites::kSync);
  const JobSpec each = job_of({"--file-test-mode=rndwr", "--file-fsync-all"});
  EXPECT_TRUE(each.flush_each_write);
  EXPECT_TRUE(each.flush_all == 0 && !each.end_fsync);
  // FIL-03: two independent switches.
  const JobSpec end = job_of({"--file-test-mode=rndwr", "--file-fsync-freq=0"});
  EXPECT_TRUE(end.flush_all == 0 && end.end_fsync);
  EXPECT_TRUE(job_of({"--file-fsync-mode=fdatasync"}).flush_data_only);
  const JobSpec merged = job_of({"--file-test-mode=seqrd", "--file-merged-requests=4"});
  EXPECT_EQ(merged.block_sizes[op_index(Op::kRead)].max_bytes, 4u * 16384);
  EXPECT_EQ(job_of({"--file-merged-requests=4"}).block_sizes[0].max_bytes, 16384u);
}

TEST(SysbenchPlan, PresetsMakeARunHonest) {
  const JobSpec job = job_of({"--file-test-mode=rndwr", "--preset=direct,incompressible"});
  EXPECT_TRUE(job.direct);
  EXPECT_FALSE(job.zero_buffers);
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

}  // namespace
}  // namespace cephmark
