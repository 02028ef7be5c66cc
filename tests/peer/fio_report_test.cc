// Our writing of fio's reports beside fio's own: one run of the real program prints its JSON, its
// normal text and its terse lines; from that JSON we must write the same text to the letter. Where
// versions of fio differ, we write what 3.42 does and the test names the difference.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "base/json.h"
#include "base/subprocess.h"
#include "output/fio_normal.h"
#include "output/fio_terse.h"

namespace cephmark {
namespace {

struct FioReport {  // NOLINT(bugprone-exception-escape): as FioOutput
  std::string terse, normal;
  Json document;
  std::vector<FioJobHeader> headers;  ///< read from the normal text
};

/// fio's stream: banners, terse lines, the JSON document, an empty line and the normal text.
FioReport split(const std::string& text, int terse_version) {
  FioReport report;
  std::istringstream lines(text);
  std::string json;
  enum class Part { kBanner, kJson, kNormal } part = Part::kBanner;
  bool description = false;
  for (std::string line; std::getline(lines, line);) {
    if (part == Part::kBanner && line == "{") part = Part::kJson;
    if (part == Part::kBanner) {
      if (line.starts_with(fmt::format("{};", terse_version)) || (description && line[0] == ';'))
        report.terse += line + "\n";
      description = terse_version == 2;
    } else if (part == Part::kJson) {
      json += line + "\n";
      if (line == "}") part = Part::kNormal;
    } else {
      report.normal += line + "\n";
    }
  }
  report.document = parse_json(json, "fio's JSON");
  const std::regex head(
      R"((.*): \(groupid=(\d+), jobs=(\d+)\): err= ?(\d+)(?: \((.*)\))?: pid=(\d+): (.*))");
  std::istringstream normal(report.normal);
  for (std::string line; std::getline(normal, line);)
    if (std::smatch match; std::regex_match(line, match, head))
      report.headers.push_back({std::stoi(match[3]), std::stoi(match[6]), match[5], match[7]});
  return report;
}

/// What 3.42 writes where an older fio wrote something else.
std::string as_fio_342(std::string normal) {
  const auto replace = [&](const char* pattern, const char* with) {
    normal = std::regex_replace(normal, std::regex(pattern), with);
  };
  replace("; 0 zone resets\n", "\n");
  replace("fsync/fdatasync/sync_file_range:\n", "fsync/fdatasync/sync_file_range/syncfs:\n");
  replace("target=0, window=0, ", "target=0.00ns, window=0.00ns, ");
  return normal;
}

/// Equal but for the last digit of decimal numbers: JSON has six decimals, fio's text was rounded
/// from more.
void expect_same_text(const std::string& ours, const std::string& fios) {
  const std::regex decimal(R"(\d+\.\d+)");
  const auto numbers = [&](const std::string& text) {
    std::vector<double> found;
    for (auto at = std::sregex_iterator(text.begin(), text.end(), decimal);
         at != std::sregex_iterator(); ++at)
      found.push_back(std::stod(at->str()));
    return found;
  };
  const auto shape = [&](const std::string& text) {
    return std::regex_replace(text, decimal, std::string("#.#"));
  };
  ASSERT_EQ(shape(ours), shape(fios));
  const std::vector<double> a = numbers(ours), b = numbers(fios);
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], 0.0101) << "number " << i << " in\n" << ours << "\nfio:\n" << fios;
}

class FioReportTest : public testing::Test {
 protected:
  void SetUp() override {
    if (find_program("fio").empty()) GTEST_SKIP() << "fio is not installed";
    folder_ = std::filesystem::temp_directory_path() / fmt::format("cephmark-report-{}", getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  FioReport run(const std::string& jobs, int terse_version) {
    const std::string path = folder_ / "job.fio";
    std::ofstream(path) << jobs;
    CommandOptions options;
    options.directory = folder_;
    const CommandResult result =
        run_command({"fio", "--output-format=normal,json,terse",
                     fmt::format("--terse-version={}", terse_version), path},
                    options);
    return split(result.out, terse_version);
  }

  void expect_same(const std::string& jobs, size_t entries,
                   const std::vector<int>& terse_versions = {3}) {
    for (const int version : terse_versions) {
      const FioReport fio = run(jobs, version);
      ASSERT_EQ(fio.headers.size(), entries) << fio.normal;
      expect_same_text(fio_normal_text(fio.document, fio.headers), as_fio_342(fio.normal));
      SCOPED_TRACE(fmt::format("terse version {}", version));
      expect_same_text(fio_terse_text(fio.document, version), fio.terse);
    }
  }

  std::filesystem::path folder_;
};

TEST_F(FioReportTest, MixedJobWithSyncsAndSeveralClones) {
  expect_same(
      "[global]\nioengine=libaio\nfilename=f1\nsize=2m\ntime_based\nruntime=700ms\n"
      "[mixed]\nrw=randrw\niodepth=4\nfsync=8\ndescription=two words\nnumjobs=2\n",
      2, {2, 3, 4, 5});
}

TEST_F(FioReportTest, GroupsAndFastAndSlowJobs) {
  expect_same(
      "[global]\nioengine=null\nsize=1g\ntime_based\nruntime=600ms\n"
      "[group]\nrw=write\nbs=64k\nnumjobs=3\ngroup_reporting\n"
      "[trims]\nstonewall\nrw=trim\nbs=512\n"
      "[slow]\nstonewall\nrw=randread\nrate_iops=20\n"
      "[deep]\nrw=read\niodepth=64\nrate_iops=2000\nbs=3k\n",
      4);
}

TEST_F(FioReportTest, AllThreeLatenciesWithPercentiles) {
  expect_same(
      "[j]\nioengine=libaio\nfilename=f2\nsize=1m\nrw=randread\niodepth=8\ntime_based\nruntime="
      "300ms\n"
      "slat_percentiles=1\nclat_percentiles=1\nlat_percentiles=1\n",
      1);
}

TEST_F(FioReportTest, ErrorsThatWereLetPass) {
  expect_same(
      "[full]\nioengine=psync\nfilename=/dev/full\nsize=64k\nrw=write\ncontinue_on_error=all\n"
      "fallocate=none\ninvalidate=0\n",
      1);
}

}  // namespace
}  // namespace cephmark
