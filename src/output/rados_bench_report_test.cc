#include "output/rados_bench_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/json.h"
#include "support/golden.h"

namespace cephmark {
namespace {

constexpr int64_t kSecond_ns = 1'000'000'000;

TickSample tick_at(int64_t at_ns, int64_t interval_ns, Op op, uint64_t ios, uint64_t in_flight,
                   int64_t latency_ns = 2'000'000) {
  TickSample sample;
  sample.at_ns = at_ns;
  sample.interval_ns = interval_ns;
  sample.ios[op_index(op)] = ios;
  sample.in_flight = in_flight;
  if (ios) sample.response.add(latency_ns, ios);
  return sample;
}

RunResult result_of(Op op, uint64_t ios, uint64_t op_bytes, int64_t measured_ns) {
  RunResult result;
  result.plan.vms.resize(1);
  result.plan.vms[0].jobs.resize(1);
  result.measured_ns = measured_ns;
  JobResult& job = result.vms.emplace_back().jobs.emplace_back();
  OpResult& one = job.op(op);
  one.ios = ios;
  one.bytes = ios * op_bytes;
  if (ios > 1) one.response.add(2'000'000, ios - 1);
  if (ios > 0) one.response.add(8'000'000, 1);
  return result;
}

RadosBenchReportOptions writes_of_4k() {
  RadosBenchReportOptions options;
  options.concurrent_ios = 4;
  options.op_size_bytes = 4096;
  options.object_size_bytes = 16384;
  options.seconds = 2;
  options.object_prefix = "benchmark_data_vm_12477";
  options.wall_ns = [] { return int64_t{1'796'064'487'692'313'000}; };
  return options;
}

// A run of 2.3 s: 1,000 ops, none, and a rest of 200.
std::string report(const RadosBenchReportOptions& options) {
  const Op op = options.writes ? Op::kWrite : Op::kRead;
  std::ostringstream out;
  const auto writer = make_rados_bench_report(out, options);
  writer->begin({});
  writer->tick(tick_at(kSecond_ns, kSecond_ns, op, 1000, 4));
  writer->tick(tick_at(2 * kSecond_ns, kSecond_ns, op, 0, 4));
  writer->tick(tick_at(2'300'000'000, 300'000'000, op, 200, 0));
  writer->end(result_of(op, 1200, options.op_size_bytes, 2'300'000'000));
  return out.str();
}

class RadosBenchReport : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
  }
};

TEST_F(RadosBenchReport, WritesInTheOriginalsText) {
  testing::expect_golden("rados-bench.write.txt", report(writes_of_4k()));
}

TEST_F(RadosBenchReport, ReadsInTheOriginalsTextWithTimes) {
  RadosBenchReportOptions options = writes_of_4k();
  options.writes = false;
  options.show_time = true;
  testing::expect_golden("rados-bench.seq.txt", report(options));
}

TEST_F(RadosBenchReport, OurText) {
  RadosBenchReportOptions options = writes_of_4k();
  options.compat = false;
  testing::expect_golden("rados-bench.ours.txt", report(options));
}

// RAD-05, without a cluster.
TEST_F(RadosBenchReport, JsonIsOneDocumentOfNumbers) {
  RadosBenchReportOptions options = writes_of_4k();
  options.format = RadosBenchFormat::kJson;
  const Json document = parse_json(report(options), "report");
  EXPECT_EQ(document["concurrent_ios"], 4);
  EXPECT_EQ(document["object_prefix"], "benchmark_data_vm_12477");
  EXPECT_EQ(document["total_writes_made"], 1200);
  EXPECT_EQ(document["write_size"], 4096);
  EXPECT_EQ(document["object_size"], 16384);
  EXPECT_EQ(document["max_iops"], 1000);
  EXPECT_EQ(document["min_iops"], 0);  // the idle second counts
  EXPECT_NEAR(document["bandwidth"].get<double>(), 1200 * 4096 / 2.3 / 1048576, 1e-9);
  ASSERT_EQ(document["datas"].size(), 3u);  // second 0, 1, 2: the rest is none
  EXPECT_EQ(document["datas"][1]["finished"], 1000);
  EXPECT_EQ(document["datas"][2]["cur_bw"], 0.0);
  std::vector<std::string> keys;
  for (const auto& [key, value] : document.items()) keys.push_back(key);
  EXPECT_THAT(keys, ::testing::ElementsAre(
                        "concurrent_ios", "object_size", "op_size", "seconds_to_run", "max_objects",
                        "object_prefix", "datas", "total_time_run", "total_writes_made",
                        "write_size", "bandwidth", "stddev_bandwidth", "max_bandwidth",
                        "min_bandwidth", "average_iops", "stddev_iops", "max_iops", "min_iops",
                        "average_latency", "stddev_latency", "max_latency", "min_latency"));
}

TEST_F(RadosBenchReport, JsonStringsForOldParsers) {
  RadosBenchReportOptions options = writes_of_4k();
  options.writes = false;
  options.format = RadosBenchFormat::kJsonPretty;
  options.json_strings = true;
  const Json document = parse_json(report(options), "report");
  EXPECT_EQ(document["total_reads_made"], "1200");
  EXPECT_EQ(document["average_iops"], "521");
  EXPECT_EQ(document["total_time_run"], "2.300000");
  EXPECT_EQ(document["datas"][1]["sec"], "1");
  EXPECT_FALSE(document.contains("object_prefix") || document.contains("stddev_latency"));
}

TEST_F(RadosBenchReport, Xml) {
  RadosBenchReportOptions options = writes_of_4k();
  options.format = RadosBenchFormat::kXml;
  options.object_prefix = "benchmark_data_a&b_1";
  const std::string text = report(options);
  EXPECT_THAT(text, ::testing::StartsWith("<bench><concurrent_ios>4</concurrent_ios>"));
  EXPECT_THAT(text, ::testing::HasSubstr("<object_prefix>benchmark_data_a&amp;b_1</object_prefix>"
                                         "<datas><data><sec>0</sec><cur_ops>4</cur_ops>"));
  EXPECT_THAT(text, ::testing::EndsWith("</min_latency></bench>\n"));
}

// RAD-06: which MB: each has its name, and 2^20 is MiB.
TEST_F(RadosBenchReport, OneOpOf4MiBInASecond) {
  RadosBenchReportOptions options = writes_of_4k();
  options.compat = false;
  options.op_size_bytes = options.object_size_bytes = 4 << 20;
  std::ostringstream out;
  const auto writer = make_rados_bench_report(out, options);
  writer->begin({});
  writer->tick(tick_at(kSecond_ns, kSecond_ns, Op::kWrite, 1, 1));
  writer->end(result_of(Op::kWrite, 1, 4 << 20, kSecond_ns));
  EXPECT_THAT(out.str(), ::testing::HasSubstr("bandwidth  4.00 MiB/s = 4.19 MB/s"));
  EXPECT_THAT(out.str(), ::testing::HasSubstr("cur MiB/s"));
}

// RAD-04: idle seconds count as 0, and where there was no whole second there is no number.
TEST_F(RadosBenchReport, ShortAndIdleRunsHaveNoSentinels) {
  for (const bool compat : {true, false})
    for (const auto format :
         {RadosBenchFormat::kPlain, RadosBenchFormat::kJson, RadosBenchFormat::kXml}) {
      RadosBenchReportOptions options = writes_of_4k();
      options.compat = compat;
      options.format = format;
      std::ostringstream out;
      const auto writer = make_rados_bench_report(out, options);
      writer->begin({});
      writer->tick(tick_at(400'000'000, 400'000'000, Op::kWrite, 0, 0));
      writer->end(result_of(Op::kWrite, 0, 4096, 400'000'000));
      for (const char* bad : {"e+308", "32767", "inf", "nan"})
        EXPECT_THAT(out.str(), ::testing::Not(::testing::HasSubstr(bad)));
      if (compat && format == RadosBenchFormat::kPlain) {
        EXPECT_THAT(out.str(), ::testing::HasSubstr("Max bandwidth (MB/sec): n/a\n"));
      }
    }
}

// Counts are handed over slot by slot: a row is of the time that its counts are of.
TEST_F(RadosBenchReport, LateCountsDoNotBendTheRates) {
  RadosBenchReportOptions options = writes_of_4k();
  options.format = RadosBenchFormat::kJson;
  std::ostringstream out;
  const auto writer = make_rados_bench_report(out, options);
  writer->begin({});
  writer->tick(tick_at(kSecond_ns, kSecond_ns / 2, Op::kWrite, 500, 4));
  writer->tick(tick_at(2 * kSecond_ns, kSecond_ns, Op::kWrite, 1000, 4));
  writer->tick(tick_at(3 * kSecond_ns, kSecond_ns, Op::kWrite, 0, 4));
  writer->end(result_of(Op::kWrite, 1500, 4096, 3 * kSecond_ns));
  const Json document = parse_json(out.str(), "report");
  const double steady = 1000 * 4096 / 1048576.0;
  EXPECT_NEAR(document["datas"][1]["cur_bw"].get<double>(), steady, 1e-9);
  EXPECT_NEAR(document["datas"][2]["cur_bw"].get<double>(), steady, 1e-9);
  EXPECT_NEAR(document["datas"][2]["avg_bw"].get<double>(), steady, 1e-9);
  EXPECT_EQ(document["datas"][3]["cur_bw"], 0.0);
  EXPECT_EQ(document["max_iops"], 1000);
}

// Ours has the original's keys and more.
TEST_F(RadosBenchReport, OurJsonTellsMore) {
  RadosBenchReportOptions options = writes_of_4k();
  options.format = RadosBenchFormat::kJson;
  options.compat = false;
  options.run_name = "mine";
  const Json document = parse_json(report(options), "report");
  EXPECT_EQ(document["run_name"], "mine");
  EXPECT_EQ(document["errors"], 0);
  EXPECT_NEAR(document["latency_percentiles"]["p50"].get<double>(), 0.002, 0.0001);
  EXPECT_NEAR(document["latency_percentiles"]["p99.99"].get<double>(), 0.008, 0.0001);
  EXPECT_EQ(document["total_writes_made"], 1200);
}

TEST_F(RadosBenchReport, LongRunsRepeatTheHeading) {
  const RadosBenchReportOptions options = writes_of_4k();
  std::ostringstream out;
  const auto writer = make_rados_bench_report(out, options);
  writer->begin({});
  for (int second = 1; second <= 20; ++second)
    writer->tick(tick_at(second * kSecond_ns, kSecond_ns, Op::kWrite, 10, 4));
  EXPECT_THAT(out.str(),
              ::testing::HasSubstr("2026-11-30T18:48:07.692313+0000 min lat: 0.002 max lat: 0.002 "
                                   "avg lat: 0.002\n  sec Cur ops   started"));
}

}  // namespace
}  // namespace cephmark
