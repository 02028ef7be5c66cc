#include "workload/workload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/units.h"

namespace cephmark {
namespace {

JobSpec job_of(std::string_view rw, uint64_t block = 4096) {
  JobSpec job;
  job.name = "j";
  job.rw.random = rw.starts_with("rand");
  const std::string_view kind = job.rw.random ? rw.substr(4) : rw;
  job.rw.reads = kind == "read" || kind == "rw";
  job.rw.writes = kind == "write" || kind == "rw" || kind == "trimwrite";
  job.rw.trims = kind.starts_with("trim");
  job.rw.trim_then_write = kind == "trimwrite";
  for (auto& sizes : job.block_sizes) sizes = {block, block, {}};
  return job;
}

Region region_of(uint64_t length, uint64_t start = 0, uint32_t files = 1) {
  return {start, length, files, length * files};
}

std::vector<IoPlanItem> all(const JobSpec& job, const Region& region, uint64_t seed = 1,
                            size_t batch = 7) {
  Workload workload(job, region, seed);
  workload.start(0);
  std::vector<IoPlanItem> items, buffer(batch);
  while (!workload.exhausted()) {
    const size_t n = workload.next_batch(0, buffer);
    EXPECT_GT(n, 0u);
    if (n == 0 || items.size() > 1'000'000) break;
    items.insert(items.end(), buffer.begin(), buffer.begin() + static_cast<long>(n));
  }
  EXPECT_EQ(workload.next_batch(0, buffer), 0u);
  EXPECT_EQ(workload.next_due_ns(), INT64_MAX);
  return items;
}

std::vector<IoPlanItem> some(const JobSpec& job, const Region& region, size_t count,
                             uint64_t seed = 1) {
  Workload workload(job, region, seed);
  workload.start(0);
  std::vector<IoPlanItem> items(count);
  EXPECT_EQ(workload.next_batch(0, items), count);
  return items;
}

/// Every byte of [start, start + length) of every file exactly once.
void expect_tiled(std::vector<IoPlanItem> items, uint64_t start, uint64_t length, uint32_t files) {
  std::sort(items.begin(), items.end(), [](const auto& a, const auto& b) {
    return std::pair(a.file, a.offset) < std::pair(b.file, b.offset);
  });
  size_t i = 0;
  for (uint32_t file = 0; file < files; ++file)
    for (uint64_t at = start; at < start + length; ++i) {
      ASSERT_LT(i, items.size());
      ASSERT_EQ(items[i].file, file);
      ASSERT_EQ(items[i].offset, at);
      ASSERT_GT(items[i].length, 0u);
      at += items[i].length;
    }
  EXPECT_EQ(i, items.size());
}

TEST(Workload, SequentialGoesThroughTheRegionOnce) {
  const auto items = all(job_of("write"), region_of(10'000, 8192));
  ASSERT_EQ(items.size(), 2u);  // as fio: 10,000 bytes are two blocks of 4 KiB
  EXPECT_EQ(items[0].offset, 8192u);
  EXPECT_EQ(items[1].offset, 12288u);
  EXPECT_EQ(items[1].op, Op::kWrite);
}

TEST(Workload, EveryBlockExactlyOnceForOddSizes) {
  for (const char* rw : {"read", "randread", "randwrite", "randrw", "trim", "randtrim"})
    for (const uint64_t blocks : {1ull, 2ull, 3ull, 17ull, 1000ull, 4097ull})
      for (const uint32_t files : {1u, 3u})
        for (const int64_t postfix : {0, 1, 5}) {
          JobSpec job = job_of(rw);
          if (job.rw.random) job.rw.postfix = postfix;
          const auto items = all(job, region_of(blocks * 4096 + 4095, 4096, files));
          expect_tiled(items, 4096, blocks * 4096, files);
        }
}

TEST(Workload, VaryingSizesCoverExactlyOnceToo) {
  BlockSizes range{4096, 65536, {}};
  BlockSizes split{4096, 4096, {{4096, 50}, {6144, 30}, {65536, 20}}};
  for (const BlockSizes& sizes : {range, split})
    for (const char* rw : {"read", "randread", "randrw"})
      for (const uint64_t length : {65536ull, 100'000ull, 10'000'000ull})
        for (const uint32_t files : {1u, 4u}) {
          JobSpec job = job_of(rw);
          job.block_sizes = {sizes, sizes, sizes};
          const uint64_t unit = sizes.splits.empty() ? 4096 : 2048;
          const auto items = all(job, region_of(length, 0, files));
          expect_tiled(items, 0, length - length % unit, files);
          if (length < 1'000'000 || files > 1) continue;
          std::map<uint64_t, int> seen;
          for (const auto& item : items) ++seen[item.length];
          EXPECT_GE(seen.size(), sizes.splits.empty() ? 16u : 3u);
        }
}

TEST(Workload, MixedSequentialHasOnePositionPerDirection) {
  std::map<Op, uint64_t> next;
  const auto items = all(job_of("rw"), region_of(100 * 4096));
  EXPECT_EQ(items.size(), 100u);
  for (const auto& item : items) {
    EXPECT_EQ(item.offset, next[item.op]);
    next[item.op] += 4096;
  }
  EXPECT_EQ(next.size(), 2u);
}

TEST(Workload, SequentialFilesTakeTurns) {
  const auto items = all(job_of("read"), region_of(2 * 4096, 0, 3));
  ASSERT_EQ(items.size(), 6u);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(items[i].file, i % 3);
    EXPECT_EQ(items[i].offset, i / 3 * 4096);
  }
}

TEST(Workload, HolesForwardsAndBackwards) {
  JobSpec job = job_of("read");
  job.rw.postfix = 8192;
  std::vector<uint64_t> offsets;
  for (const auto& item : all(job, region_of(8 * 4096))) offsets.push_back(item.offset / 4096);
  EXPECT_EQ(offsets, (std::vector<uint64_t>{0, 3, 6, 0, 3, 6, 0, 3}));  // what fio 3.33 does
  job.rw.postfix = -8192;
  offsets.clear();
  for (const auto& item : all(job, region_of(8 * 4096))) offsets.push_back(item.offset / 4096);
  EXPECT_EQ(offsets, (std::vector<uint64_t>{7, 6, 5, 4, 3, 2, 1, 0}));
}

TEST(Workload, RandomRuns) {
  JobSpec job = job_of("randread");
  job.rw.postfix = 4;
  const auto items = all(job, region_of(4096 * 4096));
  int followed = 0;
  for (size_t i = 0; i + 1 < items.size(); ++i)
    followed += items[i + 1].offset == items[i].offset + 4096;
  EXPECT_NEAR(followed, 3 * 1024, 5);
}

TEST(Workload, AmountsLoopsAndCounts) {
  JobSpec job = job_of("randread");
  Region region = region_of(10 * 4096 + 100);
  job.loops = 3;
  const auto looped = all(job, region);
  ASSERT_EQ(looped.size(), 30u);
  for (int loop = 0; loop < 3; ++loop)
    expect_tiled({looped.begin() + loop * 10, looped.begin() + loop * 10 + 10}, 0, 40960, 1);
  job.loops = 1;
  region.loop_bytes = 25 * 4096;  // io_size above the region: another pass
  EXPECT_EQ(all(job, region).size(), 25u);
  region.loop_bytes = 4 * 4096 + 1;
  EXPECT_EQ(all(job, region).size(), 5u);
  EXPECT_EQ(all(job_of("read"), region).size(), 5u);
  job.number_ios = 3;
  EXPECT_EQ(all(job, region).size(), 3u);
  EXPECT_EQ(all(job, region, 1, 1).size(), 3u);
}

TEST(Workload, TimeBasedNeverEndsAndCoversAgainAndAgain) {
  JobSpec job = job_of("randread");
  job.time_based = true;
  job.number_ios = 5;
  const auto items = some(job, region_of(100 * 4096), 500);
  for (int pass = 0; pass < 5; ++pass)
    expect_tiled({items.begin() + pass * 100, items.begin() + pass * 100 + 100}, 0, 409600, 1);
  JobSpec sequential = job_of("read");
  sequential.time_based = true;
  EXPECT_EQ(some(sequential, region_of(10 * 4096), 25)[24].offset, 4u * 4096);
}

TEST(Workload, SameSeedSameStreamOtherLaneOtherStream) {
  JobSpec job = job_of("randrw");
  job.block_sizes[0] = {4096, 65536, {}};
  const Region region = region_of(kGiB);
  const auto key = [](const std::vector<IoPlanItem>& items) {
    std::vector<uint64_t> flat;
    for (const auto& item : items)
      flat.insert(flat.end(), {item.offset, item.length, static_cast<uint64_t>(item.op)});
    return flat;
  };
  EXPECT_EQ(key(some(job, region, 300, 5)), key(some(job, region, 300, 5)));
  EXPECT_NE(key(some(job, region, 300, 5)), key(some(job, region, 300, 6)));
  EXPECT_EQ(lane_seed(job, 1, 3), lane_seed(job, 2, 3));  // randrepeat
  EXPECT_NE(lane_seed(job, 1, 3), lane_seed(job, 1, 4));
  job.randrepeat = false;
  EXPECT_NE(lane_seed(job, 1, 3), lane_seed(job, 2, 3));
  job.randseed = 9;
  EXPECT_EQ(lane_seed(job, 1, 3), lane_seed(job, 2, 3));
}

TEST(Workload, BatchesOfAnySizeGiveOneStream) {
  for (const char* rw : {"randread", "randrw", "read"}) {
    const JobSpec job = job_of(rw);
    const auto one = all(job, region_of(1000 * 4096), 3, 1),
               many = all(job, region_of(1000 * 4096), 3, 128);
    ASSERT_EQ(one.size(), many.size());
    for (size_t i = 0; i < one.size(); ++i) {
      ASSERT_EQ(one[i].offset, many[i].offset);
      ASSERT_EQ(one[i].op, many[i].op);
    }
  }
}

TEST(Workload, MixFollowsRwmixread) {
  for (const int percent : {0, 1, 30, 50, 99, 100}) {
    JobSpec job = job_of("randrw");
    job.time_based = true;
    job.rwmixread = percent;
    int reads = 0;
    for (const auto& item : some(job, region_of(kGiB), 200'000)) reads += item.op == Op::kRead;
    if (percent == 0 || percent == 100) {
      EXPECT_EQ(reads, percent * 2000);
    }
    EXPECT_NEAR(reads, percent * 2000, 1000);
  }
}

// NUM-04: no operation type that the job does not contain, in any combination.
TEST(Workload, OnlyOpsOfTheJob) {
  for (const char* rw : {"read", "write", "trim", "rw", "trimwrite", "randread", "randwrite",
                         "randtrim", "randrw", "randtrimwrite"})
    for (const int fsync : {0, 3}) {
      JobSpec job = job_of(rw);
      job.fsync = fsync;
      for (const auto& item : all(job, region_of(100 * 4096)))
        ASSERT_TRUE(job.has_op(item.op)) << rw << " " << op_name(item.op);
    }
}

TEST(Workload, TrimThenWriteTheSameBlock) {
  for (const char* rw : {"trimwrite", "randtrimwrite"}) {
    const auto items = all(job_of(rw), region_of(50 * 4096));
    ASSERT_EQ(items.size(), 100u);
    for (size_t i = 0; i < items.size(); i += 2) {
      EXPECT_EQ(items[i].op, Op::kTrim);
      EXPECT_EQ(items[i + 1].op, Op::kWrite);
      EXPECT_EQ(items[i].offset, items[i + 1].offset);
    }
  }
}

// NUM-10: exactly one flush per N writes, right behind the N-th, none for reads.
TEST(Workload, OneFlushPerNWrites) {
  JobSpec job = job_of("randwrite");
  job.fsync = 4;
  const auto items = all(job, region_of(4 * kMiB));
  EXPECT_EQ(std::count_if(items.begin(), items.end(), [](auto& i) { return i.op == Op::kFlush; }),
            256);
  EXPECT_EQ(items.back().op, Op::kFlush);
  for (size_t i = 0; i < items.size(); ++i) {
    ASSERT_EQ(items[i].op == Op::kFlush, i % 5 == 4);
    ASSERT_EQ(items[i].length, items[i].op == Op::kFlush ? 0u : 4096u);
  }
  JobSpec mixed = job_of("randrw");
  mixed.fsync = 3;
  mixed.fdatasync = 5;
  int writes = 0, flushes = 0;
  for (const auto& item : all(mixed, region_of(4 * kMiB))) {
    writes += item.op == Op::kWrite;
    flushes += item.op == Op::kFlush;
  }
  EXPECT_EQ(flushes, writes / 3 + writes / 5 - writes / 15);
  JobSpec end = job_of("write");
  end.end_fsync = true;
  EXPECT_EQ(Workload(end, region_of(kMiB, 0, 2), 1).end_flushes(), 2u);
  JobSpec read_end = job_of("read");
  read_end.end_fsync = true;
  EXPECT_EQ(Workload(read_end, region_of(kMiB), 1).end_flushes(), 0u);
}

TEST(Workload, OpenLoopStampsTheIntendedTime) {
  JobSpec job = job_of("randread");
  job.time_based = true;
  job.rate_iops = {1000, 0, 0};
  Workload workload(job, region_of(kGiB), 1);
  workload.start(5'000);
  std::array<IoPlanItem, 64> items;
  const int64_t first_ns = workload.next_due_ns();
  EXPECT_GE(first_ns, 5'000);
  EXPECT_LT(first_ns, 1'005'000);  // the lane's phase: within one interval
  EXPECT_EQ(workload.next_batch(first_ns - 1, items), 0u);
  EXPECT_EQ(workload.next_batch(first_ns, items), 1u);
  EXPECT_EQ(workload.next_due_ns(), first_ns + 1'000'000);
  // A stall of 10 ms: everything that became due comes out at once, due when it was due; nothing is
  // skipped.
  ASSERT_EQ(workload.next_batch(first_ns + 10'000'000, items), 10u);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(items[i].due_ns, first_ns + (i + 1) * 1'000'000);
  EXPECT_EQ(workload.next_due_ns(), first_ns + 11'000'000);
}

TEST(Workload, RatesPerDirectionSetTheMix) {
  JobSpec job = job_of("randrw");
  job.time_based = true;
  job.rwmixread = 70;
  job.rate_iops = {300, 100, 0};
  job.fsync = 10;
  Workload workload(job, region_of(kGiB), 1);
  workload.start(0);
  std::vector<IoPlanItem> items(2000);
  items.resize(workload.next_batch(999'999'999, items));
  std::map<Op, int> seen;
  int64_t last = 0;
  for (const auto& item : items) {
    ++seen[item.op];
    EXPECT_GE(item.due_ns, last);
    last = item.due_ns;
  }
  EXPECT_EQ(seen[Op::kRead], 300);
  EXPECT_EQ(seen[Op::kWrite], 100);
  EXPECT_EQ(seen[Op::kFlush], 10);
}

TEST(Workload, OneRatedDirectionLeavesTheOtherAClosedLoop) {
  JobSpec job = job_of("randrw");
  job.time_based = true;
  job.rate_iops = {0, 100, 0};
  Workload workload(job, region_of(kGiB), 1);
  workload.start(0);
  std::array<IoPlanItem, 8> items;
  ASSERT_EQ(workload.next_batch(9'999'999, items), 8u);  // within the first interval
  EXPECT_EQ(items[0].op, Op::kWrite);
  for (size_t i = 1; i < 8; ++i) EXPECT_EQ(items[i].op, Op::kRead);
  EXPECT_EQ(workload.next_due_ns(), INT64_MIN);
}

TEST(Workload, RatedPairsAreOneArrival) {
  JobSpec job = job_of("randtrimwrite");
  job.time_based = true;
  job.rate_iops = {0, 10, 10};
  Workload workload(job, region_of(kGiB), 1);
  workload.start(0);
  std::vector<IoPlanItem> items(100);
  ASSERT_EQ(workload.next_batch(999'999'999, items), 20u);
  EXPECT_EQ(items[18].due_ns, items[19].due_ns);
  EXPECT_EQ(workload.next_due_ns(), items[0].due_ns + 1'000'000'000);
}

TEST(Workload, NorandommapAndDistributionsStayInTheRegion) {
  for (const auto kind : {Distribution::Kind::kUniform, Distribution::Kind::kZipf}) {
    JobSpec job = job_of("randrw");
    job.norandommap = true;
    for (auto& distribution : job.random_distribution) distribution = {kind, 1.2, -1, {}};
    job.block_sizes = {BlockSizes{4096, 32768, {}}, BlockSizes{8192, 8192, {}}, BlockSizes{}};
    const auto items = all(job, region_of(kMiB + 100, 12288, 2));
    uint64_t bytes = 0;
    for (const auto& item : items) {
      ASSERT_GE(item.offset, 12288u);
      ASSERT_LE(item.offset + item.length, 12288 + kMiB + 100);
      ASSERT_LT(item.file, 2u);
      ASSERT_EQ(item.length % 4096, 0u);
      bytes += item.length;
    }
    EXPECT_NEAR(static_cast<double>(bytes), 2.0 * kMiB, 40'000);
  }
}

TEST(BlockSizeSource, RangesAndSplits) {
  Rng rng(1);
  const BlockSizeSource range(BlockSizes{4096, 18'000, {}});
  std::map<uint64_t, int> seen;
  for (int i = 0; i < 40'000; ++i) ++seen[range.next(rng)];
  EXPECT_EQ(seen.size(), 4u);
  for (const auto& [size, count] : seen) {
    EXPECT_EQ(size % 4096, 0u);
    EXPECT_NEAR(count, 10'000, 400);
  }
  const BlockSizeSource split(BlockSizes{0, 0, {{4096, 33.3}, {8192, 0}, {16384, 66.7}}});
  seen.clear();
  for (int i = 0; i < 100'000; ++i) ++seen[split.next(rng)];
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_NEAR(seen[4096], 33'300, 600);
  EXPECT_EQ(split.max_bytes(), 16384u);
}

}  // namespace
}  // namespace cephmark
