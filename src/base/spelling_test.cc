#include "base/spelling.h"

#include <gtest/gtest.h>

namespace cephmark {
namespace {

TEST(Spelling, CountsATranspositionAsOne) {
  EXPECT_EQ(edit_distance("iodepth", "iodetph"), 1);
  EXPECT_EQ(edit_distance("iodepth", "iodeth"), 1);
  EXPECT_EQ(edit_distance("", "abc"), 3);
}

TEST(Spelling, FindsWhatWasMeantAndNothingFarAway) {
  const std::vector<std::string> names = {"iodepth", "ioengine", "bs"};
  EXPECT_EQ(closest("iodeth", names), "iodepth");
  EXPECT_EQ(closest("zzzzzz", names), "");
}

}  // namespace
}  // namespace cephmark
