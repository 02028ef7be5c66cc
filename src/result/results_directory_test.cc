#include "result/results_directory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "result/codec.h"
#include "support/temporary_directory.h"
#include "support/test_result.h"

namespace cephmark {
namespace {

class Results : public ::testing::Test {
 protected:
  void SetUp() override { results_ = ResultsDirectory(root_ + "/data/results"); }

  testing_support::TemporaryDirectory scratch_;
  const std::string root_ = scratch_.path();
  ResultsDirectory results_;
};

TEST_F(Results, WhatIsSavedIsListedAndLoaded) {
  RunResult result = testing::make_error_result();
  result.id.clear();
  const std::string file = results_.save(result);
  EXPECT_EQ(file, results_.file_of(result.id));
  EXPECT_NE(result.id.find("-write-4k-"), std::string::npos) << result.id;
  RunResult second = testing::make_write_result(2);
  second.id = "29991231-000000-later-0000";
  results_.save(second);
  const auto entries = results_.list();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[0].id, second.id);
  EXPECT_GT(entries[0].iops, 1000);
  EXPECT_EQ(entries[1].id, result.id);
  EXPECT_EQ(entries[1].errors, 246u);
  EXPECT_EQ(entries[1].vms, 2u);
  EXPECT_EQ(entries[1].problem, "");
  EXPECT_EQ(result_text(results_.load(result.id)), result_text(result));
}

TEST_F(Results, NeverOverwrites) {
  RunResult result = testing::make_write_result(1);
  results_.save(result);
  EXPECT_THROW(results_.save(result), Error);
  std::string first;
  for (int i = 0; i < 20; ++i) {
    result.id.clear();
    results_.save(result);
    EXPECT_NE(result.id, first);
    first = result.id;
  }
  EXPECT_EQ(results_.list().size(), 21u);
}

TEST_F(Results, FindsByBeginningOrLast) {
  for (const char* id : {"20260101-a", "20260102-b", "20270101-c"}) {
    RunResult result;
    result.id = id;
    results_.save(result);
  }
  EXPECT_EQ(results_.find("20260102-b"), "20260102-b");
  EXPECT_EQ(results_.find("2027"), "20270101-c");
  EXPECT_EQ(results_.find("last"), "20270101-c");
  EXPECT_THROW(results_.find("2026"), UsageError);
  EXPECT_THROW(results_.find(""), UsageError);
  EXPECT_THROW(results_.find("20260102-d"), UsageError);
}

TEST_F(Results, ForeignFilesAreListedWithTheirProblem) {
  EXPECT_TRUE(results_.list().empty());
  EXPECT_THROW(results_.find("last"), UsageError);
  std::filesystem::create_directories(results_.path());
  std::ofstream(results_.file_of("garbage")) << "{\"a\": 1}\n";
  std::ofstream(results_.file_of("just-taken")) << "";
  const auto entries = results_.list();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_NE(entries[0].problem.find("is no result"), std::string::npos);
  EXPECT_THROW(results_.load("garbage"), Error);
}

TEST_F(Results, WhereItCannotBeKeptNothingIsLeft) {
  std::ofstream(root_ + "/data") << "a file where a directory should be";
  RunResult result = testing::make_write_result(1);
  result.id.clear();
  EXPECT_THROW(results_.save(result), Error);
}

TEST_F(Results, TitlesMakeTameNames) {
  const std::string id = ResultsDirectory::make_id("../a b/\xc3\xa4;rm -rf.fio", 0);
  EXPECT_EQ(id.find_first_of("/ ;."), std::string::npos) << id;
  EXPECT_NE(ResultsDirectory::make_id("", 0).find("-run-"), std::string::npos);
}

}  // namespace
}  // namespace cephmark
