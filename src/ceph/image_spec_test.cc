#include <gtest/gtest.h>

#include "base/error.h"
#include "ceph/image.h"

namespace cephmark {
namespace {

TEST(ImageSpec, ReadsAllParts) {
  EXPECT_EQ(parse_image_spec("img"), (ImageSpec{"rbd", "", "img", ""}));
  EXPECT_EQ(parse_image_spec("p/img"), (ImageSpec{"p", "", "img", ""}));
  EXPECT_EQ(parse_image_spec("p/n/img@s"), (ImageSpec{"p", "n", "img", "s"}));
  EXPECT_EQ(parse_image_spec("img", "q", "n"), (ImageSpec{"q", "n", "img", ""}));
  EXPECT_EQ(parse_image_spec("p/n/img@s").text(), "p/n/img@s");
}

TEST(ImageSpec, RefusesWhatNamesNothing) {
  for (const char* text : {"", "/img", "p/", "p/a/b/img", "img@"})
    EXPECT_THROW(parse_image_spec(text), UsageError) << text;
}

}  // namespace
}  // namespace cephmark
