#include "workload/arrival.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cephmark {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

JobSpec rated(uint64_t read_iops, uint64_t write_iops, RateProcess process = RateProcess::kLinear) {
  JobSpec job;
  job.rw.writes = write_iops != 0;
  job.rate_iops = {read_iops, write_iops, 0};
  job.rate_process = process;
  return job;
}

TEST(Arrival, NoRateIsAClosedLoop) {
  EXPECT_FALSE(Arrival(JobSpec(), 1).any());
  JobSpec other_direction;
  other_direction.rate_iops = {0, 100, 0};
  EXPECT_FALSE(Arrival(other_direction, 1).any());  // a read job has no writes to limit
}

TEST(Arrival, LinearScheduleIsExactForAnyRate) {
  for (const uint64_t rate : {1ull, 3ull, 7ull, 1000ull, 999'983ull, 3'000'000'000ull}) {
    Arrival arrival(rated(rate, 0), 1);
    arrival.start(500);
    for (uint64_t k = 0; k < 20'000; ++k) {
      const auto exact = static_cast<int64_t>(
          (static_cast<unsigned __int128>(k) * kSecond + arrival.phase_billionths()) / rate);
      ASSERT_EQ(arrival.due_ns(Op::kRead), 500 + exact) << rate << " " << k;
      arrival.advance(Op::kRead, 4096);
    }
  }
}

TEST(Arrival, BytesAreCountedAsTheyAre) {
  JobSpec job;
  job.rate_bytes_per_s = {1'000'000, 0, 0};
  Arrival arrival(job, 1);
  arrival.start(0);
  const int64_t first_ns = arrival.due_ns(Op::kRead);
  EXPECT_LT(first_ns, 4'096'000);  // within the time that one block takes at this rate
  EXPECT_EQ(first_ns, static_cast<int64_t>(arrival.phase_billionths() * 4096 / 1'000'000));
  const auto part = arrival.phase_billionths() * 4096 % 1'000'000;
  uint64_t bytes = 0;
  Rng rng(3);
  for (int k = 0; k < 10'000; ++k) {
    ASSERT_EQ(arrival.due_ns(Op::kRead),
              first_ns + static_cast<int64_t>((bytes * kSecond + part) / 1'000'000));
    const uint64_t length = 1 + rng.below(100'000);
    arrival.advance(Op::kRead, length);
    bytes += length;
  }
}

// HNG-03: the next one is far off, the schedule says when.
TEST(Arrival, ARateBelowOneBlockPerRun) {
  JobSpec job;
  job.rate_bytes_per_s = {50, 0, 0};
  Arrival arrival(job, 1);
  arrival.start(0);
  const int64_t first_ns = arrival.due_ns(Op::kRead);
  EXPECT_LT(first_ns, 81'920'000'000);
  arrival.advance(Op::kRead, 4096);
  EXPECT_NEAR(static_cast<double>(arrival.due_ns(Op::kRead) - first_ns), 81'920'000'000, 1);
  for (int i = 0; i < 1000; ++i) arrival.advance(Op::kRead, uint64_t{1} << 62);
  EXPECT_GT(arrival.due_ns(Op::kRead), 0);  // no overflow
}

// A fleet on equal rates must not fire in step: 200 lanes spread over the interval, the same way in
// each run, and every lane still has its whole number of operations in a second.
TEST(Arrival, LanesOfEqualRatesAreSpreadOverTheInterval) {
  constexpr int kLanes = 200, kBuckets = 10;
  int buckets[kBuckets] = {};
  for (int lane = 0; lane < kLanes; ++lane) {
    const uint64_t seed = Rng::derive(42, lane);
    Arrival arrival(rated(100, 0), seed), again(rated(100, 0), seed);
    arrival.start(0);
    again.start(0);
    const int64_t first_ns = arrival.due_ns(Op::kRead);
    EXPECT_EQ(first_ns, again.due_ns(Op::kRead));
    ASSERT_LT(first_ns, kSecond / 100);
    ++buckets[first_ns / (kSecond / 100 / kBuckets)];
    int count = 0;
    for (; arrival.due_ns(Op::kRead) < kSecond; arrival.advance(Op::kRead, 4096)) ++count;
    EXPECT_EQ(count, 100);
  }
  for (const int count : buckets) {
    EXPECT_GT(count, kLanes / kBuckets / 3);
    EXPECT_LT(count, kLanes / kBuckets * 2);
  }
}

TEST(Arrival, DirectionsOfOneLaneShareItsPhase) {
  Arrival arrival(rated(1000, 100), 5);
  arrival.start(0);
  EXPECT_EQ(arrival.due_ns(Op::kWrite) / 10, arrival.due_ns(Op::kRead));
}

// NUM-06: the mean of each direction on its own, and gaps that are exponential (coefficient of
// variation 1).
TEST(Arrival, PoissonHasItsMeanPerDirection) {
  for (const uint64_t rate : {50ull, 200ull, 1000ull, 2'000'000ull}) {
    Arrival arrival(rated(rate, 3 * rate, RateProcess::kPoisson), 11);
    arrival.start(0);
    for (const Op op : {Op::kRead, Op::kWrite}) {
      const double expected = 1e9 / static_cast<double>(op == Op::kRead ? rate : 3 * rate);
      constexpr int kDraws = 200'000;
      double squares = 0;
      int64_t last = 0;
      for (int i = 0; i < kDraws; ++i) {
        const double gap = static_cast<double>(arrival.due_ns(op) - last);
        last = arrival.due_ns(op);
        squares += gap * gap;
        arrival.advance(op, 4096);
      }
      const double mean = static_cast<double>(last) / kDraws;
      EXPECT_NEAR(mean / expected, 1, 0.01) << rate;
      EXPECT_NEAR(std::sqrt(squares / kDraws - mean * mean) / mean, 1, 0.02) << rate;
    }
  }
}

}  // namespace
}  // namespace cephmark
