// Golden files of every writer, and the contract that every row of writer_table keeps.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/json.h"
#include "output/writer.h"
#include "support/golden.h"
#include "support/test_result.h"

namespace cephmark {
namespace {

using testing::expect_golden;

std::string written(const WriterRow& row, const RunResult& result, WriterOptions options = {}) {
  std::ostringstream out;
  const auto writer = row.create(out, options);
  writer->begin(result.plan);
  writer->tick({});
  writer->end(result);
  return out.str();
}

bool is_json(const WriterRow& row) {
  return row.extension == ".json";
}

void expect_sound(const WriterRow& row, const RunResult& result, const std::string& which) {
  SCOPED_TRACE(std::string(row.name) + ", " + which);
  const std::string text = written(row, result);
  if (row.name == "fio-terse" && result.vms.empty()) {  // a line per job, and there is none
    EXPECT_EQ(text, "");
    return;
  }
  ASSERT_FALSE(text.empty());
  EXPECT_EQ(text.back(), '\n');
  for (const char* number :
       {"nan", "NaN", "inf,", " inf", "-inf", "18446744073709551615", "9223372036854775807"})
    EXPECT_EQ(text.find(number), std::string::npos) << number << " in\n" << text.substr(0, 2000);
  if (is_json(row)) {
    EXPECT_NO_THROW(parse_json(text, row.name));
  }
}

class EveryWriter : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC", 1);
    tzset();
  }
};

TEST_F(EveryWriter, GoldenTwoStages) {
  const RunResult result = testing::make_test_result(3);
  for (const auto& row : writer_table()) {
    if (row.name == "json") continue;  // its own test is the codec's round trip
    const std::string name = "two-stages." + std::string(row.name);
    expect_golden(row.name == "csv" ? name : name + std::string(row.extension),
                  written(row, result));
  }
}

TEST_F(EveryWriter, GoldenFleetOfWriters) {
  RunResult result = testing::make_write_result(4);
  result.taints.push_back({"cache-mode",
                           "the librbd cache was on (writeback, set by the image): writes were "
                           "acknowledged by this machine's memory, not by the cluster"});
  result.plan.warnings = {"write-4k.fio:9:1: the comment after the value is cut off, as fio does"};
  for (const char* name : {"text", "table"})
    expect_golden(std::string("fleet-of-writers.") + name + ".txt",
                  written(*find_writer(name), result));
}

TEST_F(EveryWriter, GoldenErrorsInterruptedAndFailed) {
  for (const char* name : {"text", "table"}) {
    expect_golden(std::string("errors.") + name + ".txt",
                  written(*find_writer(name), testing::make_error_result()));
    expect_golden(std::string("interrupted.") + name + ".txt",
                  written(*find_writer(name), testing::make_interrupted_result()));
    expect_golden(std::string("failed.") + name + ".txt",
                  written(*find_writer(name), testing::make_failed_result()));
  }
}

TEST_F(EveryWriter, SurvivesWhateverHappened) {
  RunResult no_io = testing::make_write_result(2);
  for (auto& vm : no_io.vms) {
    const auto phases = vm.jobs[0].phases;
    vm.jobs[0] = JobResult{};
    vm.jobs[0].phases = phases;
  }
  RunResult zero_window = testing::make_write_result(1);
  zero_window.vms[0].jobs[0].phases = {{PhaseKind::kMeasure, 0, 5, 5}};
  RunResult odd_names = testing::make_write_result(1);
  odd_names.plan.vms[0].name = "a,\"b\"\n\\\xff";
  odd_names.plan.vms[0].jobs[0].name = "\x01tab\t";
  odd_names.error = std::string(300, 'x') + "\xc3";
  for (const auto& row : writer_table()) {
    expect_sound(row, RunResult{}, "an empty result");
    expect_sound(row, no_io, "no I/O");
    expect_sound(row, zero_window, "an empty window");
    expect_sound(row, odd_names, "odd names");
    expect_sound(row, testing::make_error_result(), "errors only");
    expect_sound(row, testing::make_interrupted_result(), "interrupted");
    expect_sound(row, testing::make_failed_result(), "failed");
  }
}

TEST_F(EveryWriter, AThousandVms) {
  const RunResult result = testing::make_write_result(1000);
  for (const auto& row : writer_table()) expect_sound(row, result, "1,000 VMs");
  const std::string text = written(*find_writer("text"), result);
  EXPECT_NE(text.find("... and 980 more rows"), std::string::npos);
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 70);
}

TEST_F(EveryWriter, TheSameWarningOfAThousandVmsIsToldAFewTimes) {
  RunResult result = testing::make_write_result(2);
  for (int i = 0; i < 1000; ++i)
    result.taints.push_back({"unwritten-image", fmt::format("rbd/vm-{}: 100 %", i)});
  const std::string text = written(*find_writer("text"), result);
  EXPECT_NE(text.find("rbd/vm-7: "), std::string::npos);
  EXPECT_EQ(text.find("rbd/vm-8: "), std::string::npos);
  EXPECT_NE(text.find("unwritten-image: 992 more like these"), std::string::npos);
}

TEST_F(EveryWriter, TextFitsAHundredColumns) {
  RunResult slow = testing::make_test_result(30);
  slow.plan.vms[3].name = std::string(80, 'v');
  RunResult wide = testing::make_test_result(30);  // reads, writes and trims, and sections beside
  for (auto& vm : wide.plan.vms) {
    vm.name = std::string(60, 'v') + vm.name;
    vm.jobs[0].name = "a-section-of-a-rather-long-name";
    vm.jobs[0].rw.trims = true;
  }
  for (const RunResult& result :
       {slow, wide, testing::make_write_result(4), testing::make_error_result()}) {
    std::istringstream lines(written(*find_writer("text"), result));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  }
}

TEST_F(EveryWriter, ColourOnlyWhenAskedFor) {
  const RunResult result = testing::make_interrupted_result();
  EXPECT_EQ(written(*find_writer("text"), result).find('\033'), std::string::npos);
  EXPECT_NE(written(*find_writer("text"), result, {.colour = true}).find('\033'),
            std::string::npos);
}

TEST_F(EveryWriter, MarksPercentilesWithFewSamplesBeyond) {
  RunResult result = testing::make_write_result(1);
  Histogram& response = result.vms[0].jobs[0].op(Op::kWrite).response;
  response = {};
  response.add(1'000'000, 9'900);
  response.add(2'000'000, 100);  // 100 beyond p99, 10 beyond p99.9
  const std::string text = written(*find_writer("text"), result);
  EXPECT_NE(text.find("p99 response 1"), std::string::npos) << text;
  EXPECT_NE(text.find("2 ms*"), std::string::npos) << text;
  response.add(int64_t{1} << 44, 5000);
  EXPECT_NE(written(*find_writer("text"), result).find(">="), std::string::npos);
}

TEST_F(EveryWriter, NamesAreUniqueAndFound) {
  for (const auto& row : writer_table()) EXPECT_EQ(find_writer(row.name), &row);
  EXPECT_EQ(find_writer("yaml"), nullptr);
}

}  // namespace
}  // namespace cephmark
