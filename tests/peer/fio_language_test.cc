// The job language beside the real fio: its parser's debug output tells what it makes of each
// value. Where we differ on purpose (docs/job-file.md), the test says so.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "base/subprocess.h"
#include "job/job_file.h"
#include "job/known_options.h"
#include "job/numbers.h"
#include "job/test_engines.h"
#include "support/temporary_directory.h"

namespace cephmark {
namespace {

class FioTest : public testing::Test {
 protected:
  void SetUp() override {
    if (find_program("fio").empty()) GTEST_SKIP() << "fio is not installed";
  }

  CommandResult fio(const std::string& text, bool debug = false) {
    const std::string path = folder_.path() + "/job.fio";
    std::ofstream(path) << text;
    std::vector<std::string> argv = {"fio", "--parse-only", path};
    if (debug) argv.insert(argv.begin() + 1, "--debug=parse");
    CommandOptions options;
    options.directory = folder_.path();
    return run_command(argv, options);
  }

  /// What fio's parser makes of each value: its "ret=0, out=N"; nothing where it refuses. fio stops
  /// at the first value that it refuses.
  std::vector<std::optional<int64_t>> fio_values(const std::string& option,
                                                 const std::vector<std::string>& values,
                                                 const std::string& before = "") {
    std::string text;
    for (const std::string& value : values)
      text += fmt::format("[j]\n{}{}={}\n", before, option, value);
    const CommandResult result = fio(text, true);
    std::istringstream lines(result.out + result.err);
    std::vector<std::optional<int64_t>> out;
    const std::string begin = fmt::format(" handle_option={}, ", option);
    bool wanted = false;
    for (std::string line; std::getline(lines, line);) {
      if (line.find(begin) != std::string::npos) wanted = true;
      const size_t at = line.find("  ret=");
      if (!wanted || at == std::string::npos) continue;
      wanted = false;  // of a list, the first value
      if (line.compare(at, 8, "  ret=0,") == 0)
        out.push_back(static_cast<int64_t>(std::stoull(line.substr(line.find("out=") + 4))));
      else
        out.push_back(std::nullopt);
    }
    out.resize(values.size());
    return out;
  }

  testing_support::TemporaryDirectory folder_;
};

TEST_F(FioTest, SizesHaveFiosValues) {
  const std::vector<std::string> texts = {
      "1",     "4096",  "4k",      "4K",   "4kb",    "4KB",  "4Ki",   "4kib",  "4KiB",
      "3m",    "3MiB",  "2g",      "2GiB", "1t",     "1TiB", "1p",    "1PiB",  "1.5k",
      "1.5g",  "1e3",   "4q",      "4B",   "65536B", " 8k",  " 16",   "0x10",  "0x1000",
      "010",   "4kfoo", "4kibble", "7 k",  "12kk",   "+4k",  "4k:8k", "4k/8k", "4k,8k",
      "4k-8k", "0x10k", "3ki",     "3mi",  "5%",     "100%", "0"};
  for (const unsigned base : {1024u, 1000u}) {
    const auto theirs = fio_values("size", texts, fmt::format("kb_base={}\n", base));
    for (size_t i = 0; i < texts.size(); ++i) {
      ASSERT_TRUE(theirs[i].has_value()) << texts[i];
      const NumberReading ours = read_number(texts[i], NumberKind::kBytes, base);
      EXPECT_EQ(ours.percent ? -1 - ours.value : ours.value, *theirs[i])
          << texts[i] << " base " << base;
    }
  }
}

TEST_F(FioTest, TimesHaveFiosValues) {
  const std::vector<std::string> texts = {
      "10",    "10s",  "10S",   "5ms",  "5msec", "7us",   "7usec", "2m",   "2M",   "1h",   "1d",
      "10sec", "2min", "1hour", "1.5h", " 3",    "1m30s", "3 s",   "0x10", "9msx", "9usx", "0"};
  const auto seconds = fio_values("runtime", texts);
  const auto micros = fio_values("thinktime", texts);
  for (size_t i = 0; i < texts.size(); ++i) {
    ASSERT_TRUE(seconds[i].has_value() && micros[i].has_value()) << texts[i];
    EXPECT_EQ(read_number(texts[i], NumberKind::kSeconds).value, *seconds[i]) << texts[i];
    EXPECT_EQ(read_number(texts[i], NumberKind::kMicroseconds).value, *micros[i]) << texts[i];
  }
}

TEST_F(FioTest, WhatIsNoNumberToFioIsNoneToUs) {
  for (const char* text : {"abc", "k", "-", "(4k+", "x10"}) {
    EXPECT_FALSE(fio_values("size", {text})[0].has_value()) << text;
    EXPECT_FALSE(read_number(text, NumberKind::kBytes).ok()) << text;
  }
}

struct Verdict {
  const char* lines;
  bool fio_accepts;
  bool we_accept;
};

TEST_F(FioTest, TheSameJobsAreAcceptedExceptWhereWeDifferOnPurpose) {
  const Verdict verdicts[] = {
      // Alike.
      {"rw=randrw\nrwmixread=70\nbs=4k,8k", true, true},
      {"rw=randread:8", true, true},
      {"rw=read:4k", true, true},
      {"rw=randreed", false, false},
      {"rw=\"read\"", false, false},
      {"rw = write", false, false},
      {"bs=,8k", true, true},
      {"bs=0", false, false},
      {"bs=", false, false},
      {"bs", false, false},
      {"iodepth=0", false, false},
      {"iodepth = 16\ndirect = 1\nruntime = 1", true, true},
      {"bsrange=4k-64k,8k-8k", true, true},
      {"bsrange=4k", false, false},
      {"bssplit=4k/50:8k/50", true, true},
      {"bssplit=512/25:1k/:2k/:4k/", true, true},
      {"bssplit=4k/60:8k/60", true, true},
      {"rwmixread=101", false, false},
      {"direct=yes", false, false},
      {"direct=2", false, false},
      {"direct=1abc", true, true},
      {"time_based=0", true, true},
      {"norandommap\nthread\ngroup_reporting", true, true},
      {"random_distribution=zipf:1.2", true, true},
      {"random_distribution=zipf:1.2:0.5", true, true},
      {"random_distribution=zipf:1", false, false},
      {"random_distribution=pareto:0.2", true, true},
      {"random_distribution=pareto:1.2", false, false},
      {"random_distribution=normal:20", true, true},
      {"random_distribution=zoned:60/10:40/90", true, true},
      {"random_distribution=zoned:60/10:30/90", false, false},
      {"random_distribution=zoned_abs:60/20g:40/100g", true, true},
      {"kb_base=1000", true, true},
      {"kb_base=512", false, false},
      {"loops=0", true, true},
      {"bogus=1", false, false},
      {"output-format=json", false, false},
      {"description=", false, false},
      {"rate_process=poisson\nrate_iops=10", true, true},
      {"startdelay=5", true, true},
      {"startdelay=5-10", true, true},
      {"directory=.:/tmp", true, true},
      {"random_distribution=zoned:60/10:30:10/", true, true},
      {"random_distribution=zoned:60/60:40/60", false, false},
      {"stonewall\nnew_group", true, true},
      {"size=10%\noffset=5%\noffset_increment=1m\nio_size=1m", true, true},
      {"buffer_compress_percentage=101", false, false},
      {"filename=a\\:b:c", true, true},
      // fio goes on with something that nobody meant; cephmark refuses.
      {"size=150%", true, false},
      {"time_based", true, false},
      {"filename=/dev/${CEPHMARK_TEST_NOT_SET}", true, false},
      {"bs=4k,8k,16k,32k", true, false},
      {"startdelay=10-5", true, false},
      // fio knows them, cephmark does not honour them yet.
      {"verify=crc32c", true, false},
      {"write_bw_log=x", true, false},
  };
  for (const Verdict& verdict : verdicts) {
    const std::string text = fmt::format("[j]\nioengine=null\nsize=1m\n{}\n", verdict.lines);
    EXPECT_EQ(fio(text).exit_code == 0, verdict.fio_accepts) << text;
    Diagnostics diagnostics;
    parse_job_file(text, "t.fio", test_engines(), diagnostics);
    EXPECT_EQ(diagnostics.ok(), verdict.we_accept) << text << diagnostics.render(Severity::kError);
  }
}

TEST_F(FioTest, EveryOptionOfTheInstalledFioIsKnown) {
  const std::string help = run_or_throw({"fio", "--cmdhelp"});
  std::istringstream lines(help);
  int count = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(0, line.find_first_of(" :"));
    if (name.empty() || line.find(':') == std::string::npos) continue;
    ++count;
    EXPECT_NE(find_known_core(name), nullptr) << name;
  }
  EXPECT_GT(count, 150);
  for (const char* engine : {"rbd", "rados", "libaio", "io_uring", "http", "nbd", "pvsync2"}) {
    const CommandResult help_of_engine = run_command({"fio", std::string("--enghelp=") + engine});
    if (help_of_engine.exit_code != 0) continue;  // a package of its own that is not installed
    std::istringstream rows(help_of_engine.out);
    for (std::string line; std::getline(rows, line);) {
      const std::string name = line.substr(0, line.find_first_of(" :"));
      if (name.empty() || line.find(" : ") == std::string::npos) continue;
      EXPECT_THAT(engines_that_know(name), testing::Contains(std::string_view(engine))) << name;
    }
  }
}

}  // namespace
}  // namespace cephmark
