#include "output/rbd_bench_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "output/ceph_text.h"

namespace cephmark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TickSample second(int64_t at, uint64_t reads, uint64_t writes, uint64_t size) {
  TickSample sample;
  sample.at_ns = at * 1'000'000'000;
  sample.interval_ns = 1'000'000'000;
  sample.ios[op_index(Op::kRead)] = reads;
  sample.ios[op_index(Op::kWrite)] = writes;
  sample.bytes[op_index(Op::kRead)] = reads * size;
  sample.bytes[op_index(Op::kWrite)] = writes * size;
  return sample;
}

RunResult result_of(uint64_t reads, uint64_t writes, uint64_t size, int64_t ns) {
  RunResult result;
  result.measured_ns = ns;
  JobResult& job = result.vms.emplace_back().jobs.emplace_back();
  for (const auto& [op, ios] : {std::pair{Op::kRead, reads}, std::pair{Op::kWrite, writes}}) {
    if (ios == 0) continue;
    job.op(op).ios = ios;
    job.op(op).bytes = ios * size;
    for (uint64_t i = 0; i < ios; ++i) job.op(op).response.add(1'000'000);
  }
  return result;
}

// A run of the original, with its numbers: `rbd bench b1 --io-type rw --rw-mix-read 70 ...`.
TEST(RbdBenchReport, AMixAsTheOriginalWritesIt) {
  std::ostringstream out;
  RbdBenchReportOptions options;
  options.reads = true;
  options.read_percent = 70;
  options.io_threads = 2;
  options.io_total_bytes = 12582912;
  options.pattern = "random";
  const auto report = make_rbd_bench_report(out, options);
  report->begin(Plan());
  report->tick(second(1, 2000, 890, 4096));
  report->end(result_of(2142, 930, 4096, 1'084'000'000));
  EXPECT_EQ(out.str(),
            "bench  type readwrite read:write=70:30 io_size 4096 io_threads 2 bytes 12582912 "
            "pattern random\n"
            "  SEC       OPS   OPS/SEC   BYTES/SEC\n"
            "    1      2890      2890    11 MiB/s\n"
            "elapsed: 1   ops: 3072   ops/sec: 2833.95   bytes/sec: 11 MiB/s\n"
            "read_ops: 2142   read_ops/sec: 1976.01   read_bytes/sec: 7.7 MiB/s\n"
            "write_ops: 930   write_ops/sec: 857.934   write_bytes/sec: 3.4 MiB/s\n");
}

// The original writes "inf" and "8 EiB/s" for a run that moved nothing or took no time.
TEST(RbdBenchReport, ARunOfNoTimeHasNoRate) {
  std::ostringstream out;
  const auto report = make_rbd_bench_report(out, {});
  report->end(result_of(0, 0, 4096, 0));
  EXPECT_EQ(out.str(), "elapsed: 0   ops: 0   ops/sec: 0   bytes/sec: 0 B/s\n");
}

TEST(RbdBenchReport, RatesOfARowAreThoseOfTheLastFive) {
  std::ostringstream out;
  const auto report = make_rbd_bench_report(out, {});
  for (int64_t at = 1; at <= 6; ++at) report->tick(second(at, 0, at == 1 ? 6000 : 1000, 4096));
  EXPECT_THAT(out.str(), HasSubstr("    5     10000      2000   7.8 MiB/s\n"));
  EXPECT_THAT(out.str(), HasSubstr("    6     11000      1000   3.9 MiB/s\n"));
}

TEST(RbdBenchReport, LatenciesStandBehindItUnlessCompat) {
  for (const bool compat : {true, false}) {
    std::ostringstream out;
    RbdBenchReportOptions options;
    options.compat = compat;
    const auto report = make_rbd_bench_report(out, options);
    report->end(result_of(0, 20000, 4096, 1'000'000'000));
    if (compat)
      EXPECT_THAT(out.str(), Not(HasSubstr("p99")));
    else
      EXPECT_THAT(out.str(), ::testing::AllOf(HasSubstr("p99.99"), HasSubstr("write    1 ms")));
  }
}

// As the original counts: what a cache holds is not written yet.
TEST(RbdBenchReport, TheFlushBehindTheWritesIsPartOfTheTime) {
  std::ostringstream out;
  RbdBenchReportOptions options;
  options.compat = false;
  RunResult result = result_of(0, 1000, 4096, 1'000'000'000);
  result.phases = {{PhaseKind::kMeasure, 0, 0, 1'000'000'000},
                   {PhaseKind::kDrain, 0, 1'000'000'000, 2'000'000'000}};
  make_rbd_bench_report(out, options)->end(result);
  EXPECT_THAT(out.str(), HasSubstr("elapsed: 2   ops: 1000   ops/sec: 500 "));
  EXPECT_THAT(out.str(), HasSubstr("until all was flushed: 1 s more"));
}

TEST(RbdBenchReport, ErrorsAreToldByCode) {
  std::ostringstream out;
  const auto report = make_rbd_bench_report(out, {});
  RunResult result = result_of(0, 10, 4096, 1'000'000'000);
  result.vms[0].jobs[0].op(Op::kWrite).errors[EIO] = 3;
  report->end(result);
  EXPECT_THAT(out.str(), HasSubstr("write error: (5) Input/output error\n  (3 of them)\n"));
}

TEST(CephSize, AsCephWritesIt) {
  EXPECT_EQ(ceph_size_text(0), "0 B");
  EXPECT_EQ(ceph_size_text(1023), "1023 B");
  EXPECT_EQ(ceph_size_text(4096), "4 KiB");
  EXPECT_EQ(ceph_size_text(2'516'582), "2.4 MiB");
  EXPECT_EQ(ceph_size_text(738'304), "721 KiB");
  EXPECT_EQ(ceph_size_text(10'450'000), "10 MiB");
  EXPECT_EQ(ceph_size_text(uint64_t{1} << 30), "1 GiB");
}

}  // namespace
}  // namespace cephmark
