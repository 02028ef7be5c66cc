#include "run/fio_json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/fd.h"
#include "run/fio_latency.h"

namespace cephmark {
namespace {

using testing::HasSubstr;

std::string golden(const std::string& name) {
  return read_file(CEPHMARK_SOURCE_DIR "/tests/golden/fio/" + name);
}

JobSpec section(const std::string& name, bool reads, bool writes, int numjobs = 1,
                bool grouped = false) {
  JobSpec spec;
  spec.name = name;
  spec.rw.reads = reads;
  spec.rw.writes = writes;
  spec.numjobs = numjobs;
  spec.group_reporting = grouped;
  return spec;
}

FioReading read_golden(const std::string& name, std::vector<JobSpec> sections) {
  VmPlan vm;
  vm.jobs = std::move(sections);
  return read_fio_result(split_fio_output(golden(name), name), vm, name);
}

// Every percentile that fio printed for `latency`, asked of our histogram: the same bucket.
void expect_same_percentiles(const Histogram& ours, const Json& latency) {
  ASSERT_TRUE(latency.contains("percentile"));
  for (const auto& [percent, value] : latency["percentile"].items())
    EXPECT_EQ(Histogram::bucket_of(ours.quantile_ns(std::stod(percent) / 100)),
              Histogram::bucket_of(value.get<int64_t>()))
        << "p" << percent;
  EXPECT_EQ(ours.count(), latency["N"].get<uint64_t>());
  EXPECT_EQ(ours.min_ns(), latency["min"].get<int64_t>());
  EXPECT_EQ(ours.max_ns(), latency["max"].get<int64_t>());
  EXPECT_NEAR(ours.mean_ns(), latency["mean"].get<double>(), 1e-3);
  const double n = static_cast<double>(ours.count());
  EXPECT_NEAR(ours.stddev_ns() * std::sqrt(n / (n - 1)), latency["stddev"].get<double>(),
              latency["stddev"].get<double>() * 1e-6);
}

TEST(FioJson, ReadsAMixWithExactHistograms) {
  const FioReading reading =
      read_golden("randrw.json", {section("mix", true, true), section("clones", false, true, 3)});
  const Json document = split_fio_output(golden("randrw.json"), "").document;
  ASSERT_EQ(reading.jobs.size(), 2u);
  EXPECT_TRUE(reading.exact);
  EXPECT_TRUE(reading.taints.empty());
  const JobResult& mix = reading.jobs[0].result;
  for (Op kind : {Op::kRead, Op::kWrite}) {
    const OpResult* op = mix.find(kind);
    ASSERT_NE(op, nullptr);
    const Json& direction = document["jobs"][0][std::string(op_name(kind))];
    EXPECT_EQ(op->ios, direction["total_ios"].get<uint64_t>());
    EXPECT_EQ(op->bytes, direction["io_bytes"].get<uint64_t>());
    expect_same_percentiles(op->service, direction["clat_ns"]);
    expect_same_percentiles(op->response, direction["lat_ns"]);
    expect_same_percentiles(op->submit, direction["slat_ns"]);
  }
  EXPECT_EQ(mix.find(Op::kRead)->ios + mix.find(Op::kWrite)->ios, 2048u);
  EXPECT_EQ(mix.issued, 2048u);
  EXPECT_EQ(mix.find(Op::kTrim), nullptr);
}

TEST(FioJson, ClonesOfASectionAreMergedIntoIt) {
  const FioReading reading =
      read_golden("randrw.json", {section("mix", true, true), section("clones", false, true, 3)});
  const OpResult* op = reading.jobs[1].result.find(Op::kWrite);
  ASSERT_NE(op, nullptr);
  EXPECT_EQ(op->ios, 3u * 128);
  EXPECT_EQ(op->bytes, 3u * (8 << 20));
  EXPECT_EQ(op->response.count(), 3u * 128);
  EXPECT_EQ(reading.jobs[1].result.depths.depth[0], 3u * 128);
}

TEST(FioJson, SectionsThatFioMeltedTogetherAreTold) {
  const FioReading reading = read_golden("group.json", {section("alpha", true, false, 2, true),
                                                        section("beta", true, false, 1, true)});
  EXPECT_EQ(reading.jobs[0].result.find(Op::kRead)->ios, 2u * 256 + 4);
  EXPECT_EQ(reading.jobs[1].result.find(Op::kRead), nullptr);
  EXPECT_EQ(reading.jobs[1].result.failure, "");
  ASSERT_EQ(reading.taints.size(), 1u);
  EXPECT_EQ(reading.taints[0].code, "fio-merged");
  EXPECT_THAT(reading.taints[0].text, HasSubstr("'beta' into 'alpha'"));
}

TEST(FioJson, SameNamedSectionsStayApart) {
  const FioReading reading = read_golden(
      "rbd.jsonplus.out",
      {section("randrw", true, true, 1, true), section("seqwrite", false, true, 1, true)});
  EXPECT_EQ(reading.jobs[0].result.find(Op::kRead)->ios, 3343u);
  EXPECT_EQ(reading.jobs[1].result.find(Op::kWrite)->ios, 960u);
  VmPlan vm;
  vm.jobs = {section("p", true, false), section("p", true, false)};
  FioOutput output;
  output.document = Json::parse(
      R"({"jobs":[{"jobname":"p","read":{"total_ios":3}},{"jobname":"p","read":{"total_ios":5}}]})");
  const FioReading twice = read_fio_result(output, vm, "p");
  EXPECT_EQ(twice.jobs[0].result.find(Op::kRead)->ios, 3u);
  EXPECT_EQ(twice.jobs[1].result.find(Op::kRead)->ios, 5u);
}

TEST(FioJson, SyncsAreFlushesAndRepeatedKeysAreNoError) {
  const std::string text = golden("sync.json");
  const FioReading reading =
      read_golden("sync.json", {section("sync", false, true), section("plain", true, false)});
  const Json document = split_fio_output(text, "").document;
  const OpResult* flush = reading.jobs[0].result.find(Op::kFlush);
  ASSERT_NE(flush, nullptr);
  EXPECT_EQ(flush->ios, document["jobs"][0]["sync"]["total_ios"].get<uint64_t>());
  EXPECT_EQ(flush->service.count(), flush->ios);
  EXPECT_EQ(reading.jobs[0].result.find(Op::kWrite)->submit.count(), 0u);  // psync has no slat
  // gtod_reduce: counts, but no latency at all.
  EXPECT_EQ(reading.jobs[1].result.find(Op::kRead)->ios, 64u);
  EXPECT_TRUE(reading.jobs[1].result.find(Op::kRead)->response.empty());
}

TEST(FioJson, UnifiedReportingIsCountedOnceAndTold) {
  const FioReading reading = read_golden("null.unified.json", {section("mixed", true, true)});
  const Json document = split_fio_output(golden("null.unified.json"), "").document;
  EXPECT_EQ(reading.jobs[0].result.find(Op::kRead)->ios,
            document["jobs"][0]["mixed"]["total_ios"].get<uint64_t>());
  EXPECT_EQ(reading.jobs[0].result.find(Op::kWrite), nullptr);
  ASSERT_EQ(reading.taints.size(), 1u);
  EXPECT_EQ(reading.taints[0].code, "fio-unified");
}

TEST(FioJson, NewerFioTellsWhenAJobStarted) {
  const FioReading reading = read_golden(
      "rbd.jsonplus.out", {section("randrw", true, true), section("seqwrite", false, true)});
  EXPECT_GT(reading.jobs[1].start_wall_ns, reading.jobs[0].start_wall_ns);
  EXPECT_EQ(reading.jobs[0].runtime_ns, 3004 * int64_t{1'000'000});
}

TEST(FioJson, ErrorsAreCountedWithTheirPlace) {
  const FioReading reading = read_golden("rbd.error.json", {section("err", false, true)});
  const JobResult& job = reading.jobs[0].result;
  const OpResult* op = job.find(Op::kWrite);
  EXPECT_EQ(op->errors, (std::map<int, uint64_t>{{EINVAL, 1}}));
  EXPECT_EQ(op->ios, 64u);
  EXPECT_EQ(op->service.count(), 64u);
  EXPECT_FALSE(job.finished);
  ASSERT_EQ(job.error_samples.size(), 1u);
  EXPECT_EQ(job.error_samples[0].offset, 67108864u);
  EXPECT_EQ(job.error_samples[0].length, 1048576u);
  EXPECT_EQ(job.error_samples[0].error, EINVAL);

  const FioReading full = read_golden("full.json", {section("full", false, true)});
  EXPECT_EQ(full.jobs[0].result.find(Op::kWrite)->errors, (std::map<int, uint64_t>{{ENOSPC, 1}}));
  EXPECT_EQ(full.jobs[0].result.find(Op::kWrite)->ios, 0u);
}

TEST(FioJson, TextAroundTheDocumentIsKept) {
  const FioOutput output = split_fio_output(golden("missing.json"), "missing.json");
  ASSERT_EQ(output.notes.size(), 1u);
  EXPECT_THAT(output.notes[0], HasSubstr("No such file or directory"));
  EXPECT_EQ(output.document["fio version"], "fio-3.33");
  EXPECT_TRUE(split_fio_output("fio: nothing\n", "x").document.is_null());
  EXPECT_EQ(split_fio_output("{\n\"a\" : 1\n}\n{\n\"a\" : 2\n}\n", "x").document["a"], 2);
  EXPECT_EQ(split_fio_output("{\n\"a\" : -nan,\n\"b\" : inf\n}\n", "x").document["a"], 0.0);
}

TEST(FioJson, BrokenReportsAreRefused) {
  EXPECT_THROW(split_fio_output("{\n  \"fio version\" : \"fio-3.33\",\n", "x"), Error);
  EXPECT_THROW(split_fio_output("{\n  oops\n}\n", "x"), Error);
  EXPECT_THROW(read_fio_result({Json::object(), {}}, {}, "x"), Error);
  EXPECT_THROW(read_golden("randrw.json", {}), Error);
}

TEST(FioJson, ASectionWithoutAnEntryHasFailed) {
  const FioReading reading =
      read_golden("full.json", {section("full", false, true), section("next", true, false)});
  EXPECT_THAT(reading.jobs[1].result.failure, HasSubstr("no entry"));
}

TEST(FioLatency, WithoutBinsPercentilesAreRebuiltAndMarked) {
  const FioReading reading = read_golden(
      "rbd.json.out", {section("randrw", true, true), section("seqwrite", false, true)});
  EXPECT_FALSE(reading.exact);
  const Json document = split_fio_output(golden("rbd.json.out"), "").document;
  const Json& latency = document["jobs"][0]["read"]["clat_ns"];
  expect_same_percentiles(reading.jobs[0].result.find(Op::kRead)->service, latency);
  // lat_ns has no percentiles of its own there: the shape of clat_ns, at its own mean.
  const Histogram& response = reading.jobs[0].result.find(Op::kRead)->response;
  EXPECT_NEAR(response.mean_ns(), document["jobs"][0]["read"]["lat_ns"]["mean"].get<double>(),
              1e-3);
  EXPECT_EQ(response.count(), latency["N"].get<uint64_t>());
}

TEST(FioLatency, SamplesAboveFiosRangeKeepTheirMaximum) {
  const Json latency =
      Json::parse(R"({"min":1000,"max":94000000000,"mean":41000000000.0,"stddev":10000.0,"N":4,
      "percentile":{"50.000000":17112760320},"bins":{"1004":1,"17112760320":3}})");
  const FioLatency read = fio_latency(latency, nullptr, "x");
  EXPECT_TRUE(read.exact);
  EXPECT_TRUE(read.beyond_range);
  EXPECT_EQ(read.histogram.count(), 4u);
  EXPECT_EQ(read.histogram.max_ns(), 94'000'000'000);
  EXPECT_EQ(Histogram::bucket_of(read.histogram.quantile_ns(0.5)),
            Histogram::bucket_of(17112760320));
  EXPECT_EQ(Histogram::bucket_of(read.histogram.quantile_ns(1)),
            Histogram::bucket_of(94'000'000'000));
}

TEST(FioLatency, MalformedBinsAreRefused) {
  EXPECT_THROW(fio_latency(Json::parse(R"({"N":1,"bins":{"x":1}})"), nullptr, "x"), Error);
  EXPECT_THROW(fio_latency(Json::parse(R"({"N":1,"bins":{"5":-1}})"), nullptr, "x"), Error);
  EXPECT_THROW(fio_latency(Json::parse(R"({"N":"1"})"), nullptr, "x"), Error);
  EXPECT_TRUE(fio_latency(Json::object(), nullptr, "x").histogram.empty());
}

}  // namespace
}  // namespace cephmark
