#include "stats/series.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cephmark {
namespace {

TEST(Series, SlotsWithoutCompletionsAreThere) {
  Series series;
  series.at(3).ios = 7;
  ASSERT_EQ(series.slots().size(), 4u);
  EXPECT_EQ(series.slots()[1].ios, 0u);
}

TEST(Series, MergesSlotBySlot) {
  Series a, b;
  a.at(0) = {1, 4096, 0, 100, 100};
  b.at(0) = {2, 8192, 1, 500, 400};
  b.at(2) = {1, 1, 0, 3, 3};
  a.merge(b);
  ASSERT_EQ(a.slots().size(), 3u);
  EXPECT_EQ(a.slots()[0].ios, 3u);
  EXPECT_EQ(a.slots()[0].bytes, 12288u);
  EXPECT_EQ(a.slots()[0].errors, 1u);
  EXPECT_EQ(a.slots()[0].response_sum_ns, 600);
  EXPECT_EQ(a.slots()[0].response_max_ns, 400);
  EXPECT_EQ(a.slots()[2].ios, 1u);
}

TEST(Series, WidthsMustAgreeUnlessOneIsEmpty) {
  Series second(1'000'000'000), empty;
  second.at(1).ios = 1;
  empty.merge(second);
  EXPECT_EQ(empty.slot_ns(), 1'000'000'000);
  second.merge(Series());
  EXPECT_EQ(second.slot_ns(), 1'000'000'000);
  Series half;
  half.at(0).ios = 1;
  EXPECT_THROW(half.merge(second), Error);
}

TEST(Series, JsonRoundTripAndHostileDocuments) {
  Series series(250'000'000);
  series.at(2) = {5, 20480, 1, 900, 300};
  const std::string text = series.to_json().dump();
  EXPECT_EQ(Series::from_json(parse_json(text, "s"), "s").to_json().dump(), text);
  for (const char* bad :
       {R"({"slot_ns":0,"slots":[]})", R"({"slot_ns":-1,"slots":[]})", R"({"slot_ns":1})",
        R"({"slot_ns":1,"slots":{}})", R"({"slot_ns":1,"slots":[[1,2,3,4]]})",
        R"({"slot_ns":1,"slots":[[1,2,3,4,5]]})", R"({"slot_ns":1,"slots":[[-1,2,3,4,4]]})",
        R"({"slot_ns":1,"slots":[[1,2,3,4.5,4]]})", R"({"slot_ns":1,"slots":[],"x":1})", "[]"})
    EXPECT_THROW(Series::from_json(parse_json(bad, "s"), "s"), Error) << bad;
}

}  // namespace
}  // namespace cephmark
