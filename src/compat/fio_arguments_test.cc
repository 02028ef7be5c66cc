// fio's command line: what getopt_long_only would make of it, and mistakes told with their place.
#include "compat/fio_arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job/test_engines.h"

namespace cephmark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FioArgumentsTest : public testing::Test {
 protected:
  FioArguments parse(std::vector<std::string> words) {
    words.insert(words.begin(), "fio");
    return parse_fio_arguments(words, engines_, diagnostics_);
  }
  std::string errors() const { return diagnostics_.render(Severity::kError); }
  static std::vector<std::string> shown(const std::vector<RawOption>& options) {
    std::vector<std::string> out;
    for (const RawOption& option : options)
      out.push_back(option.name + (option.has_value ? "=" + option.value : ""));
    return out;
  }

  std::span<const EngineDescription> engines_ = test_engines();
  Diagnostics diagnostics_;
};

TEST_F(FioArgumentsTest, SectionsGlobalsAndFilesInAnyOrder) {
  const auto a = parse({"a.fio", "--bs=4k", "--name=one", "--rw=read", "-", "--name=two",
                        "--iodepth", "8", "--", "--odd"});
  EXPECT_EQ(errors(), "");
  EXPECT_THAT(a.job_files, ElementsAre("a.fio", "-", "--odd"));
  EXPECT_THAT(shown(a.globals), ElementsAre("bs=4k"));
  ASSERT_EQ(a.sections.size(), 2u);
  EXPECT_EQ(a.sections[0].name, "one");
  EXPECT_THAT(shown(a.sections[0].options), ElementsAre("name=one", "rw=read"));
  EXPECT_THAT(shown(a.sections[1].options), ElementsAre("name=two", "iodepth=8"));
}

TEST_F(FioArgumentsTest, OneDashAndUniqueBeginnings) {
  const auto a = parse({"-name=j", "-ioeng=rbd", "--rbd=img", "--group_report", "-pool", "p",
                        "--nr=2", "--time_based", "--runtime=5"});
  EXPECT_EQ(errors(), "");
  EXPECT_THAT(shown(a.sections.at(0).options),
              ElementsAre("name=j", "ioengine=rbd", "rbdname=img", "group_reporting", "pool=p",
                          "nr_files=2", "time_based", "runtime=5"));
}

TEST_F(FioArgumentsTest, EngineOptionsBeforeTheEngine) {
  const auto a = parse({"--pool=rbd", "--name=j", "--rbdname=i", "--ioengine=rbd"});
  EXPECT_EQ(errors(), "");
  EXPECT_THAT(shown(a.globals), ElementsAre("pool=rbd"));
}

TEST_F(FioArgumentsTest, FlagsTakeAValueOnlyBehindEquals) {
  const auto a = parse({"--name=j", "--thread", "job.fio", "--norandommap=0"});
  EXPECT_EQ(errors(), "");
  EXPECT_THAT(a.job_files, ElementsAre("job.fio"));
  EXPECT_THAT(shown(a.sections.at(0).options), ElementsAre("name=j", "thread", "norandommap=0"));
}

TEST_F(FioArgumentsTest, Formats) {
  EXPECT_TRUE(parse({"x"}).formats.normal);
  const auto several = parse({"--output-format", "json,normal", "x"}).formats;
  EXPECT_TRUE(several.json && several.normal && !several.terse && !several.bins);
  const auto last_wins = parse({"--output-format=json+", "--minimal", "x"}).formats;
  EXPECT_TRUE(last_wins.terse && !last_wins.json && !last_wins.normal);
  const auto appended = parse({"--append-terse", "--output-format=normal", "--terse-version=5"});
  EXPECT_TRUE(appended.formats.terse && appended.formats.normal);
  EXPECT_EQ(appended.formats.terse_version, 5);
  EXPECT_TRUE(parse({"--output-format=json+"}).formats.bins);
  EXPECT_EQ(errors(), "");
  parse({"--output-format=jsonplus", "--terse-version=6"});
  EXPECT_THAT(errors(), HasSubstr("'jsonplus' is no output format"));
  EXPECT_THAT(errors(), HasSubstr("bad terse version"));
}

TEST_F(FioArgumentsTest, AppendedTerseStandsBesideTheDefault) {
  const auto formats = parse({"--append-terse", "x"}).formats;
  EXPECT_TRUE(formats.normal && formats.terse);
}

TEST_F(FioArgumentsTest, WhatIsAskedFor) {
  EXPECT_EQ(parse({"--version"}).action, FioAction::kShowVersion);
  EXPECT_EQ(parse({"-v"}).action, FioAction::kShowVersion);
  EXPECT_EQ(parse({"-h"}).action, FioAction::kHelp);
  EXPECT_EQ(parse({"--cmdhelp"}).action, FioAction::kCommandHelp);
  EXPECT_EQ(parse({"--cmdhelp=bs"}).topic, "bs");
  EXPECT_EQ(parse({"--enghelp=rbd,pool"}).topic, "rbd,pool");
  EXPECT_EQ(parse({"--parse-only", "x"}).action, FioAction::kParseOnly);
  EXPECT_EQ(parse({"--status-interval=1", "x"}).status_interval_ns, 1'000'000'000);
  EXPECT_EQ(parse({"--status-interval=250ms", "x"}).status_interval_ns, 250'000'000);
  EXPECT_EQ(parse({"--eta=never", "x"}).eta, FioEta::kNever);
  EXPECT_EQ(errors(), "");
}

TEST_F(FioArgumentsTest, AllMistakesAtOnceWithTheirPlace) {
  parse({"--name=j", "--iodeth=4", "--rwm=3", "--client=host", "--runtime"});
  EXPECT_EQ(diagnostics_.error_count(), 4u);
  EXPECT_THAT(errors(), HasSubstr("command line:1:16"));
  EXPECT_THAT(errors(), HasSubstr("did you mean --iodepth?"));
  EXPECT_THAT(errors(), HasSubstr("'--rwm' may mean several options"));
  EXPECT_THAT(errors(), HasSubstr("--rwmixread"));
  EXPECT_THAT(errors(), HasSubstr("does not have --client"));
  EXPECT_THAT(errors(), HasSubstr("--runtime needs a value"));
}

TEST_F(FioArgumentsTest, WhatChangesNothingIsNoted) {
  EXPECT_THAT(parse({"--max-jobs=10", "--eta-newline=1", "x"}).ignored,
              ElementsAre("max-jobs", "eta-newline"));
}

}  // namespace
}  // namespace cephmark
