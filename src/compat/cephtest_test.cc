#include "compat/cephtest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace cephmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string mistake(const std::vector<std::string>& argv) {
  try {
    parse_cephtest(argv);
  } catch (const UsageError& error) {
    EXPECT_THAT(error.hint(), HasSubstr("--job-file FILE --go-jobs N --max-cpus C"));
    return error.what();
  }
  return "";
}

TEST(Cephtest, TakesTheOlderSpelling) {
  const auto arguments =
      parse_cephtest({"cephtest", "--job-file", "w.fio", "--go-jobs=4", "-max-cpus", "2"});
  EXPECT_FALSE(arguments.help);
  EXPECT_EQ(arguments.job_file, "w.fio");
  EXPECT_EQ(arguments.go_jobs, 4);
  EXPECT_EQ(arguments.max_cpus, 2);
  EXPECT_THAT(cephtest_as_run(arguments),
              ElementsAre("run", "w.fio", "--vms", "4", "--max-cpus", "2", "--output", "table"));
}

TEST(Cephtest, NamesEachMissingOption) {
  EXPECT_EQ(mistake({"cephtest", "--job-file", "f"}),
            "cephtest: --go-jobs and --max-cpus are missing");
  EXPECT_EQ(mistake({"cephtest", "--job-file", "f", "--go-jobs", "1"}),
            "cephtest: --max-cpus is missing");
  EXPECT_EQ(mistake({"cephtest"}), "cephtest: --job-file, --go-jobs and --max-cpus are missing");
}

TEST(Cephtest, TellsAllMistakesAtOnce) {
  const std::string text =
      mistake({"cephtest", "--go-job", "4", "--max-cpus", "none", "--job-file"});
  EXPECT_THAT(text, HasSubstr("no option '--go-job' (did you mean --go-jobs?)"));
  EXPECT_THAT(text, HasSubstr("'4' belongs to no option"));
  EXPECT_THAT(text, HasSubstr("--max-cpus: 'none' is not a number of 1 or more"));
  EXPECT_THAT(text, HasSubstr("--job-file needs a value"));
  EXPECT_THAT(text, HasSubstr("--go-jobs is missing"));
  EXPECT_THAT(mistake({"cephtest", "--job-file=f", "--go-jobs=0", "--max-cpus="}),
              testing::AllOf(HasSubstr("'0'"), HasSubstr("--max-cpus needs a value")));
}

TEST(Cephtest, HelpNeedsNothingElse) {
  EXPECT_TRUE(parse_cephtest({"cephtest", "-h"}).help);
  EXPECT_TRUE(parse_cephtest({"cephtest", "--help"}).help);
  EXPECT_THAT(cephtest_help(), HasSubstr("{{.Name}}"));
  EXPECT_THAT(cephtest_help(), Not(HasSubstr("{{{")));
}

TEST(Cephtest, TellsWhenItStartedAndEnded) {
  EXPECT_THAT(cephtest_started_line(1796047509'000000000),
              testing::MatchesRegex(
                  "test started at 2026-1[12]-[0-9][0-9] [0-9][0-9]:[0-9][0-9]:[0-9][0-9]"));
  EXPECT_THAT(cephtest_ended_line(1796047509'000000000),
              testing::StartsWith("test ended at 2026-1"));
}

}  // namespace
}  // namespace cephmark
