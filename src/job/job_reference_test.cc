#include "job/job_reference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/fd.h"
#include "job/job_draft.h"
#include "job/job_file.h"
#include "job/known_options.h"
#include "job/test_engines.h"

namespace cephmark {
namespace {

TEST(JobReference, TheCommittedFileIsWhatTheTablesSay) {
  const std::string path = CEPHMARK_SOURCE_DIR "/docs/job-file.md";
  if (std::getenv("CEPHMARK_UPDATE_DOCS")) std::ofstream(path) << render_job_reference();
  EXPECT_EQ(read_file(path), render_job_reference())
      << "run with CEPHMARK_UPDATE_DOCS=1 to render docs/job-file.md anew";
}

TEST(JobReference, EnginesAreListedWithTheirOptions) {
  const std::string text = render_engine_reference(test_engines());
  EXPECT_THAT(text, testing::HasSubstr("## rbd\n\nlibrbd\n"));
  EXPECT_THAT(text, testing::HasSubstr("| `pool` | text | required | Pool of the image |"));
}

TEST(OptionTables, NamesAreUniqueAndEveryHonouredOptionIsFios) {
  std::set<std::string_view> names;
  for (const CoreOption& option : core_options()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    if (!option.alias.empty()) {
      EXPECT_TRUE(names.insert(option.alias).second) << option.alias;
    }
    EXPECT_NE(option.apply, nullptr) << option.name;
    EXPECT_FALSE(option.help.empty()) << option.name;
    const KnownOption* known = find_known_core(option.name);
    ASSERT_NE(known, nullptr) << option.name;
    EXPECT_EQ(known->alias, option.alias) << option.name;
    EXPECT_EQ(known->neutral, "") << option.name << " is honoured and needs no neutral value";
  }
}

// Every option that fio knows: bare, with nothing, with blanks, with a word, with a number. Never a
// crash, and never "there is no such option".
TEST(OptionTables, EveryKnownOptionIsKnownInAJob) {
  for (const KnownOption& option : known_options()) {
    for (const char* value : {"", "=", "=  ", "=x", "=1", "=0:0,0-0/"}) {
      Diagnostics diagnostics;
      const std::string text = "[j]\nioengine=null\n" + std::string(option.name) + value + "\n";
      parse_job_file(text, "t.fio", test_engines(), diagnostics,
                     {false, SourceAccess::none(), nullptr});
      EXPECT_THAT(diagnostics.render(Severity::kError),
                  testing::Not(testing::HasSubstr("there is no option")))
          << text;
    }
  }
}

// The files in examples/ are what people begin with: no errors, no warnings.
TEST(Examples, AllParseWithoutAWord) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CEPHMARK_SOURCE_DIR "/examples")) {
    if (entry.path().extension() != ".fio") continue;
    ++count;
    Diagnostics diagnostics;
    const JobFile file = parse_job_file(read_file(entry.path()), entry.path().filename(),
                                        test_engines(), diagnostics);
    EXPECT_TRUE(diagnostics.all().empty())
        << diagnostics.render(Severity::kError) << diagnostics.render(Severity::kWarning);
    EXPECT_FALSE(file.sections.empty());
  }
  EXPECT_GE(count, 6);
}

// Hostile texts are refused or read in time that grows with their length only.
TEST(Hostile, LargeTextsCostLittle) {
  std::string unknown = "[j]\n", sections, globals = "[global]\n", repeated = "[j]\n";
  while (unknown.size() < 1'000'000) unknown += "optoin" + std::to_string(unknown.size()) + "=1\n";
  while (sections.size() < 1'000'000) sections += "[a]\nbs=4k\n";
  while (globals.size() < 900'000)
    globals += "description=" + std::string(4000, 'x') + "\n[global]\n";
  for (int i = 0; i < 4000; ++i) globals += "[j]\n";
  while (repeated.size() < 1'000'000) repeated += "bs=4q\n";
  for (const std::string& text : {unknown, sections, globals, repeated, std::string(1'000'000, '['),
                                  std::string(2'000'000, '\n'), std::string(1'000'000, '\0')}) {
    Diagnostics diagnostics;
    parse_job_file(text, "t.fio", test_engines(), diagnostics,
                   {false, SourceAccess::none(), nullptr});
    EXPECT_LE(diagnostics.all().size(), Diagnostics::kMaxKept);
    EXPECT_LT(diagnostics.render(Severity::kError).size(), 200'000u);
  }
}

// What the fuzzer starts from also runs here: no crash under the sanitizers.
TEST(Corpus, NothingCrashes) {
  int count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(CEPHMARK_SOURCE_DIR "/tests/corpus/job_file")) {
    ++count;
    Diagnostics diagnostics;
    const JobFile file =
        parse_job_file(read_file(entry.path()), entry.path().filename(), test_engines(),
                       diagnostics, {true, SourceAccess::none(), nullptr});
    if (diagnostics.ok()) make_jobs(file, {"vm", 1, "h", "p"}, diagnostics);
  }
  EXPECT_GE(count, 15);
}

}  // namespace
}  // namespace cephmark
