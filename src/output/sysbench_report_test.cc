#include "output/sysbench_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "output/sysbench_histogram.h"

namespace cephmark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Two threads, 2 s: 300 reads of 1 ms and 100 of 2 ms by one, 100 of 1 ms by the other.
RunResult result() {
  RunResult out;
  out.measured_ns = 2'000'000'000;
  JobResult& job = out.vms.emplace_back().jobs.emplace_back();
  for (const uint64_t fast : {300, 100}) {
    JobResult clone;
    OpResult& reads = clone.op(Op::kRead);
    reads.response.add(1'000'000, fast);
    if (fast == 300) reads.response.add(2'000'000, 100);
    reads.ios = reads.response.count();
    reads.bytes = reads.ios * 16384;
    job.merge(clone);
    job.clones.push_back(clone);
    out.fleet_response.merge(reads.response);
  }
  return out;
}

std::string text_of(const SysbenchReportOptions& options) {
  std::ostringstream out;
  make_sysbench_report(out, options)->end(result());
  return out.str();
}

TEST(SysbenchReport, OldLayoutToTheLetter) {
  EXPECT_EQ(text_of({}),
            "\nFile operations:\n"
            "    reads/s:                      250.00\n"
            "    writes/s:                     0.00\n"
            "    fsyncs/s:                     0.00\n"
            "\nThroughput:\n"
            "    read, MiB/s:                  3.91\n"
            "    written, MiB/s:               0.00\n"
            "\nGeneral statistics:\n"
            "    total time:                          2.0000s\n"
            "    total number of events:              500\n"
            "\nLatency (ms):\n"
            "         min:                                    1.00\n"
            "         avg:                                    1.20\n"
            "         max:                                    2.00\n"
            "         95th percentile:                        2.00\n"
            "         sum:                                  600.00\n"
            "\nThreads fairness:\n"
            "    events (avg/stddev):           250.0000/150.00\n"
            "    execution time (avg/stddev):   0.3000/0.20\n\n");
}

TEST(SysbenchReport, NewLayoutHasItsOwnThroughput) {
  const std::string text = text_of({.new_layout = true});
  EXPECT_THAT(text, HasSubstr("         read:  IOPS=250.00 3.91 MiB/s (4.10 MB/s)\n"
                              "         write: IOPS=0.00 0.00 MiB/s (0.00 MB/s)\n"
                              "         fsync: IOPS=0.00\n\nLatency (ms):\n"));
  EXPECT_THAT(text, Not(HasSubstr("General statistics")));
}

TEST(SysbenchReport, ExtraLinesTellEachKindApart) {
  EXPECT_THAT(text_of({.extra = true}), HasSubstr("    read   p50 "));
  EXPECT_THAT(text_of({.extra = true}), Not(HasSubstr("    write ")));
  EXPECT_THAT(text_of({}), Not(HasSubstr("p50")));
}

TEST(SysbenchReport, NothingMeasuredHasNoSentinels) {
  std::ostringstream out;
  make_sysbench_report(out, {})->end(RunResult());
  EXPECT_THAT(out.str(), HasSubstr("         min:                                    0.00\n"));
}

TEST(SysbenchReport, IntervalLinesComeWhenTheirTimeIsThrough) {
  std::ostringstream out;
  const auto writer = make_sysbench_report(out, {.report_interval_ns = 2'000'000'000});
  TickSample sample;
  sample.interval_ns = 1'000'000'000;
  sample.ios[op_index(Op::kRead)] = 64;
  sample.bytes[op_index(Op::kRead)] = 64 * 16384;
  sample.response.add(1'000'000, 64);
  sample.at_ns = 1'000'000'000;
  writer->tick(sample);
  EXPECT_EQ(out.str(), "");
  sample.at_ns = 2'000'000'000;
  writer->tick(sample);
  EXPECT_EQ(out.str(),
            "[ 2s ] reads: 1.00 MiB/s writes: 0.00 MiB/s fsyncs: 0.00/s latency (ms,95%): 1.007\n");
  sample.phase = PhaseKind::kWarmup;
  writer->tick(sample);
  writer->tick(sample);
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
}

TEST(SysbenchHistogram, HasSysbenchsBuckets) {
  Histogram latencies;
  latencies.add(1'000'000, 80);
  latencies.add(500, 20);
  const SysbenchHistogram buckets(latencies);
  EXPECT_EQ(buckets.rows(),
            "       0.001 |**********                               20\n"
            "       1.007 |**************************************** 80\n");
  EXPECT_NEAR(buckets.percentile_ms(10), 0.001, 1e-9);
  EXPECT_NEAR(buckets.percentile_ms(95), 1.007, 0.001);
  EXPECT_EQ(buckets.percentile_ms(0), 0);
  EXPECT_EQ(SysbenchHistogram(Histogram()).percentile_ms(95), 0);
}

}  // namespace
}  // namespace cephmark
