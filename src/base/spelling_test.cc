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

TEST(NaturalLess, OrdersNumbersInNamesAsNumbers) {
  const NaturalLess less;
  EXPECT_TRUE(less("rbd/vm-2", "rbd/vm-10"));
  EXPECT_FALSE(less("rbd/vm-10", "rbd/vm-2"));
  EXPECT_TRUE(less("vm-9", "vm-09x"));
  EXPECT_TRUE(less("a", "b2"));
  EXPECT_TRUE(less("vm", "vm-1"));
  EXPECT_FALSE(less("vm-1", "vm-1"));
  EXPECT_NE(less("vm-1", "vm-01"), less("vm-01", "vm-1"));
  EXPECT_TRUE(less("99999999999999999999998", "99999999999999999999999"));
}

}  // namespace
}  // namespace cephmark
