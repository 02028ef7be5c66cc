#include "output/sysbench_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
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

/// The same with as many writes of 1 ms beside the reads, 10 flushes of 5 ms, and 4 at the end that
/// took 2 s.
RunResult with_flushes() {
  RunResult out = result();
  out.plan.vms.emplace_back().jobs.emplace_back();
  JobResult& job = out.vms[0].jobs[0];
  OpResult& writes = job.op(Op::kWrite);
  writes.ios = 500;
  writes.bytes = 500 * 16384;
  writes.response.add(1'000'000, 500);
  OpResult& flushes = job.op(Op::kFlush);
  flushes.ios = 10;
  flushes.response.add(5'000'000, 10);
  job.end_flushes = 4;
  job.end_flush_ns = 2'000'000'000;
  return out;
}

std::string text_of(const RunResult& result, const SysbenchReportOptions& options) {
  std::ostringstream out;
  const auto report = make_sysbench_report(out, options);
  report->begin(result.plan);
  report->end(result);
  return out.str();
}

// FIL-03, FIL-04: periodic flushes are events; the final ones are in the rate and in the time.
TEST(SysbenchReport, FlushesAreCountedAsSysbenchDoes) {
  const std::string text = text_of(with_flushes(), {.extra = true});
  EXPECT_THAT(text, HasSubstr("    writes/s:                     125.00\n"
                              "    fsyncs/s:                     3.50\n"));
  EXPECT_THAT(text, HasSubstr("    total time:                          4.0000s\n"
                              "    total number of events:              1010\n"));
  EXPECT_THAT(text, HasSubstr("    fsync  p50 5.0"));
  EXPECT_THAT(text, HasSubstr("\nFinal fsync: 4 calls, 2.0000s of the total time\n"));
  EXPECT_THAT(text_of(with_flushes(), {}), Not(HasSubstr("Final fsync")));
}

TEST(SysbenchReport, AFlushBehindEachWriteIsPartOfIt) {
  RunResult each = with_flushes();
  each.plan.vms[0].jobs[0].flush_each_write = true;
  JobResult& job = each.vms[0].jobs[0];
  job.ops[op_index(Op::kFlush)].reset();
  job.end_flushes = 0;
  job.end_flush_ns = 0;
  const std::string text = text_of(each, {});
  EXPECT_THAT(text, HasSubstr("    writes/s:                     250.00\n"
                              "    fsyncs/s:                     250.00\n"));
  EXPECT_THAT(text, HasSubstr("    total number of events:              1000\n"));
}

TEST(SysbenchReport, WhatFailedIsToldInsteadOfAReport) {
  RunResult failed = with_flushes();
  failed.vms[0].jobs[0].error_samples = {
      {.op = Op::kWrite, .offset = 81920, .length = 16384, .error = ENOSPC, .file = 3}};
  EXPECT_EQ(
      text_of(failed, {}),
      "Threads started!\n\nFATAL: Failed to write file! file: 3 pos: 81920 errno = 28 (No space "
      "left on device)\n");
  failed.vms[0].jobs[0].error_samples[0] = {.op = Op::kRead, .offset = 7, .error = EILSEQ};
  SysbenchReportOptions options;
  options.tell_mismatch = [](const ErrorSample& sample) {
    return "FATAL: at " + std::to_string(sample.offset) + "\n";
  };
  EXPECT_EQ(text_of(failed, options),
            "Threads started!\n\nFATAL: at 7\n"
            "FATAL: Validation failed on file 0, block offset 7, exiting...\n");
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
