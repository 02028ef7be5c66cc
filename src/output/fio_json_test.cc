// fio's JSON: every key path of a report of the real program, in its order, with its types; and its
// identities.
#include "output/fio_json.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/fd.h"
#include "base/json.h"
#include "output/fio_format.h"
#include "support/test_result.h"

namespace cephmark {
namespace {

/// Key paths with the type of what stands there, in order; array elements share "[]".
void collect(const Json& json, const std::string& path, std::vector<std::string>& out) {
  const char* type = json.is_object()         ? "object"
                     : json.is_array()        ? "array"
                     : json.is_string()       ? "string"
                     : json.is_number_float() ? "float"
                                              : "integer";
  out.push_back(path + " " + type);
  if (json.is_object())
    for (const auto& [key, value] : json.items()) {
      if (path.ends_with("options") || path.ends_with("bins")) continue;
      collect(value, path + "/" + key, out);
    }
  if (json.is_array())
    for (size_t i = 0; i < json.size(); ++i)
      collect(json[i], path + "[" + std::to_string(i) + "]", out);
}

std::vector<std::string> paths_of(const std::string& text, const char* what) {
  Json json = parse_json(text, what);
  json.erase(
      "disk_util");  // of the machine's block devices; fio leaves it out where there are none
  std::vector<std::string> paths;
  collect(json, "", paths);
  return paths;
}

std::string sample(const char* name) {
  return read_file(std::string(CEPHMARK_SOURCE_DIR) + "/tests/golden/fio/" + name);
}

TEST(FioJson, HasTheKeyPathsAndTypesOfARealReportInItsOrder) {
  EXPECT_EQ(paths_of(fio_json_text(testing::make_test_result(1)), "ours"),
            paths_of(sample("rbd.json"), "fio's"));
}

TEST(FioJson, JsonPlusToo) {
  EXPECT_EQ(paths_of(fio_json_text(testing::make_test_result(1), {.bins = true}), "ours"),
            paths_of(sample("rbd.jsonplus.json"), "fio's"));
}

TEST(FioJson, SerialisesAsFioDoes) {
  const std::string text = sample("rbd.json");
  EXPECT_EQ(fio_format(parse_json(text, "sample")), text);
}

TEST(FioJson, NumbersAgreeWithEachOther) {
  const RunResult result = testing::make_test_result(3);
  const Json json = parse_json(fio_json_text(result, {.bins = true}), "ours");
  ASSERT_EQ(json["jobs"].size(), 6u);
  uint64_t bytes = 0;
  for (const auto& job : json["jobs"])
    for (const char* direction : {"read", "write"}) {
      const Json& d = job[direction];
      bytes += d["io_bytes"].get<uint64_t>();
      EXPECT_EQ(d["bw"], d["bw_bytes"].get<uint64_t>() / 1024);
      EXPECT_EQ(d["io_kbytes"], d["io_bytes"].get<uint64_t>() / 1024);
      EXPECT_EQ(d["clat_ns"]["N"], d["total_ios"]);
      if (d["total_ios"] == 0) continue;
      const double block = job["jobname"] == "randrw" ? 4096 : 65536;
      EXPECT_NEAR(d["iops"].get<double>() * block, d["bw_bytes"].get<double>(), 2);
      EXPECT_NEAR(d["slat_ns"]["mean"].get<double>() + d["clat_ns"]["mean"].get<double>(),
                  d["lat_ns"]["mean"].get<double>(), 0.01);
      EXPECT_NEAR(d["iops_mean"].get<double>(), d["iops"].get<double>(),
                  d["iops"].get<double>() * 0.05);
      uint64_t binned = 0;
      for (const auto& [value, count] : d["clat_ns"]["bins"].items())
        binned += count.get<uint64_t>();
      EXPECT_EQ(binned, d["clat_ns"]["N"].get<uint64_t>());
    }
  EXPECT_EQ(bytes, result.total(Op::kRead).bytes + result.total(Op::kWrite).bytes);
}

TEST(FioJson, SharesAddUpToAHundred) {
  const Json json = parse_json(fio_json_text(testing::make_test_result(1)), "ours");
  for (const auto& job : json["jobs"]) {
    double latencies = 0;
    for (const char* unit : {"latency_ns", "latency_us", "latency_ms"})
      for (const auto& [key, share] : job[unit].items()) latencies += share.get<double>();
    EXPECT_NEAR(latencies, 100, 0.1);
    double depths = 0;
    for (const auto& [key, share] : job["iodepth_level"].items()) depths += share.get<double>();
    EXPECT_NEAR(depths, 100, 0.1);
  }
}

TEST(FioJson, OneVmAloneLooksLikeOneFio) {
  const RunResult result = testing::make_test_result(3);
  const Json one = parse_json(fio_json_text(result, {.vm = 1}), "one");
  ASSERT_EQ(one["jobs"].size(), 2u);
  EXPECT_FALSE(one["jobs"][0].contains("hostname"));
  const Json all = parse_json(fio_json_text(result), "all");
  EXPECT_EQ(all["jobs"][2]["hostname"], "node-1");
  EXPECT_EQ(all["jobs"][2]["read"]["io_bytes"], one["jobs"][0]["read"]["io_bytes"]);
}

TEST(FioJson, SaysWhichErrorCameFirst) {
  const Json json = parse_json(fio_json_text(testing::make_error_result()), "ours");
  EXPECT_EQ(json["jobs"][0]["error"], EIO);
  EXPECT_EQ(json["jobs"][0]["write"]["total_ios"], 123);
  EXPECT_EQ(json["jobs"][0]["write"]["io_bytes"], 0);
  EXPECT_EQ(json["jobs"][0]["write"]["iops"].get<double>(), 0);
  EXPECT_FALSE(json["jobs"][0]["write"]["clat_ns"].contains("percentile"));
}

TEST(FioJson, AnOptionWrittenTwiceStandsOnce) {
  RunResult result = testing::make_test_result(1);
  result.plan.vms[0].jobs[0].written_options = {{"bs", "4k"}, {"rw", "read"}, {"bs", "8k"}};
  const Json json = parse_json(fio_json_text(result), "ours");
  EXPECT_EQ(json["jobs"][0]["job options"]["bs"], "8k");
}

}  // namespace
}  // namespace cephmark
