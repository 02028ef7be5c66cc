#include "output/cells.h"

#include <gtest/gtest.h>

namespace cephmark {
namespace {

TEST(Cells, WhatIsTooLongLosesItsMiddleAndNoCharacterIsCut) {
  EXPECT_EQ(shorten("vm-0", 10), "vm-0");
  EXPECT_EQ(shorten("compute-node-17-rack-4", 10), "comp..ck-4");
  EXPECT_EQ(shorten("größe-übung", 11), "größe-übung");
  EXPECT_EQ(shorten("ééééééééééé", 10), "éééé..éééé");
  EXPECT_EQ(shorten("ééééé", 3), "ééé");
}

TEST(Cells, ColumnsAreAsWideAsTheirCharacters) {
  TextTable table({"VM", "n"}, 1);
  table.add({"é", "1"});
  table.add({"abc", "22"});
  EXPECT_EQ(table.text(), "VM    n\né     1\nabc  22\n");
}

}  // namespace
}  // namespace cephmark
