#include "output/output_set.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "support/temporary_directory.h"
#include "support/test_result.h"

namespace cephmark {
namespace {

class Outputs : public ::testing::Test {
 protected:
  std::string in(const std::string& name) const { return directory_ + "/" + name; }

  std::string hint_of(const std::vector<std::string>& specs) {
    try {
      OutputSet set(specs);
    } catch (const Error& error) {
      return std::string(error.what()) + " | " + error.hint();
    }
    return "accepted";
  }

  testing_support::TemporaryDirectory scratch_;
  const std::string directory_ = scratch_.path();
  RunResult result_ = testing::make_write_result(2);
};

TEST_F(Outputs, TextToStdoutUnlessAskedOtherwise) {
  std::ostringstream out;
  OutputSet set({}, {}, out);
  set.begin(result_.plan);
  EXPECT_EQ(out.str(), "");
  set.end(result_);
  EXPECT_NE(out.str().find("IOPS"), std::string::npos);
}

TEST_F(Outputs, StdoutIsOneDocumentAndFilesHoldTheOthers) {
  std::ostringstream out;
  OutputSet set({"fio-json", "csv:" + in("a.csv"), "table:" + in("with:colon.txt")},
                {.colour = true}, out);
  set.end(result_);
  EXPECT_NO_THROW(parse_json(out.str(), "stdout"));
  EXPECT_TRUE(read_file(in("a.csv")).starts_with("result_id,"));
  EXPECT_TRUE(read_file(in("with:colon.txt")).starts_with("Process"));
  EXPECT_EQ(set.written_files().size(), 2u);
}

TEST_F(Outputs, AFileIsReplacedAndALinkFollowed) {
  std::ofstream(in("old.txt")) << "old";
  std::filesystem::create_symlink("old.txt", in("link.txt"));
  OutputSet set({"table:" + in("link.txt")});
  EXPECT_EQ(read_file(in("old.txt")), "old");
  set.end(result_);
  EXPECT_TRUE(std::filesystem::is_symlink(in("link.txt")));
  EXPECT_TRUE(read_file(in("old.txt")).starts_with("Process"));
}

TEST_F(Outputs, MistakesAreToldBeforeTheRun) {
  EXPECT_NE(hint_of({"tabel"}).find("did you mean 'table'"), std::string::npos)
      << hint_of({"tabel"});
  EXPECT_NE(hint_of({"text", "csv"}).find("both go to standard output"), std::string::npos);
  EXPECT_NE(hint_of({"csv:"}).find("name of the file is missing"), std::string::npos);
  EXPECT_NE(hint_of({"csv:" + in("x"), "text:" + in("x")}).find("twice"), std::string::npos);
  EXPECT_NE(hint_of({"csv:" + directory_}).find("is a directory"), std::string::npos);
  EXPECT_NE(hint_of({"csv:" + in("missing/x.csv")}).find("No such file"), std::string::npos);
}

TEST_F(Outputs, AFullDiskFailsOneOutputNotTheOthers) {
  OutputSet set({"table:/dev/full", "csv:" + in("a.csv")});
  try {
    set.end(result_);
    FAIL() << "a full disk went unnoticed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::kEnvironment);
    EXPECT_NE(std::string(error.what()).find("/dev/full: No space left on device"),
              std::string::npos)
        << error.what();
  }
  EXPECT_TRUE(read_file(in("a.csv")).starts_with("result_id,"));
}

TEST_F(Outputs, AFullStandardOutputIsNoticedToo) {
  std::ofstream full("/dev/full");
  OutputSet set({"text", "csv:" + in("a.csv")}, {}, full);
  EXPECT_THROW(set.end(result_), Error);
  EXPECT_TRUE(read_file(in("a.csv")).starts_with("result_id,"));
}

}  // namespace
}  // namespace cephmark
