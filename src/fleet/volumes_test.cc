#include "fleet/volumes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "fleet/image_tag.h"

namespace cephmark {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Prefill, FindsWhatWasNeverWritten) {
  EXPECT_THAT(unwritten_parts(100, {}), ElementsAre(Extent{0, 100}));
  EXPECT_THAT(unwritten_parts(100, {{0, 100}}), IsEmpty());
  EXPECT_THAT(unwritten_parts(100, {{10, 20}, {50, 10}}),
              ElementsAre(Extent{0, 10}, Extent{30, 20}, Extent{60, 40}));
  EXPECT_THAT(unwritten_parts(100, {{90, 50}}), ElementsAre(Extent{0, 90})) << "beyond the end";
  EXPECT_THAT(unwritten_parts(100, {{10, 20}, {20, 20}}),
              ElementsAre(Extent{0, 10}, Extent{40, 60}));
  EXPECT_THAT(unwritten_parts(0, {}), IsEmpty());
}

TEST(Prefill, PiecesTileTheRestExactlyWhateverWasWritten) {
  Rng rng(4);
  for (int round = 0; round < 200; ++round) {
    const uint64_t size = 1 + rng.below(1 << 20), chunk = uint64_t{4096} << rng.below(6);
    std::vector<Extent> written;
    for (uint64_t at = rng.below(50'000); at < size; at += rng.below(100'000) + 1) {
      written.push_back({at, 1 + rng.below(20'000)});
      at += written.back().length;
    }
    std::vector<bool> covered(size, false);
    for (const auto& extent : written)
      for (uint64_t i = extent.offset; i < std::min(size, extent.offset + extent.length); ++i)
        covered[i] = true;
    for (const auto& part : unwritten_parts(size, written))
      for (const auto& piece : cut_at_multiples(part, chunk)) {
        ASSERT_GT(piece.length, 0u);
        ASSERT_LE(piece.offset + piece.length, size);
        ASSERT_EQ(piece.offset / chunk, (piece.offset + piece.length - 1) / chunk)
            << "lies in one object";
        for (uint64_t i = piece.offset; i < piece.offset + piece.length; ++i) {
          ASSERT_FALSE(covered[i]) << "written twice";
          covered[i] = true;
        }
      }
    ASSERT_EQ(std::count(covered.begin(), covered.end(), false), 0);
  }
}

TEST(Prefill, AnObjectThatIsNotWrittenToItsEndIsWrittenWhole) {
  EXPECT_THAT(unwritten_objects(100, 10, {{0, 100}}), IsEmpty());
  EXPECT_THAT(unwritten_objects(95, 10, {{0, 95}}), IsEmpty());
  EXPECT_THAT(unwritten_objects(95, 10, {{0, 23}, {30, 65}}), ElementsAre(Extent{20, 10}));
  EXPECT_THAT(unwritten_objects(95, 10, {{0, 23}, {30, 60}}),
              ElementsAre(Extent{20, 10}, Extent{90, 5}));
  EXPECT_THAT(unwritten_objects(95, 10, {{3, 2}, {12, 1}}), ElementsAre(Extent{0, 95}));
}

TEST(Grants, NameImagesWithOrWithoutTheirPool) {
  const ImageSpec spec{"rbd", "", "vm-1", ""};
  EXPECT_TRUE(write_is_granted({"rbd/vm-*"}, spec));
  EXPECT_TRUE(write_is_granted({"x", "vm-1"}, spec));
  EXPECT_FALSE(write_is_granted({"vm-2", "other/*"}, spec));
  EXPECT_FALSE(write_is_granted({}, spec));
}

TEST(ImageTag, SurvivesTheJourneyAndIsForOneImageOnly) {
  const ImageTag tag{"abc123", "fsid-1", {"run-1", "node7", "boot", 7, 9, 11}, true, false, "now"};
  const auto read = parse_tag(format_tag(tag));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->is_for("abc123", "fsid-1"));
  EXPECT_FALSE(read->is_for("abc124", "fsid-1")) << "a clone or a copy";
  EXPECT_FALSE(read->is_for("abc123", "fsid-2")) << "imported into another cluster";
  EXPECT_EQ(read->run.host, "node7");
  EXPECT_TRUE(read->keep);
}

TEST(ImageTag, WhatIsNotATagIsNone) {
  for (const char* text :
       {"", "yes", "{}", "[]", R"({"version":1})", R"({"version":"x","image":5})"})
    EXPECT_FALSE(parse_tag(text)) << text;
}

}  // namespace
}  // namespace cephmark
