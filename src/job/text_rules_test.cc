#include "job/text_rules.h"

#include <gtest/gtest.h>

using namespace std::string_view_literals;

namespace cephmark {
namespace {

TEST(TextRules, TakesWhatPeopleWrite) {
  for (const auto text :
       {""sv, "bs=4k"sv, "a\tb"sv, "Gerät"sv, "テスト"sv, "\xC2\xA0"sv, "\U0001F600"sv})
    EXPECT_EQ(plain_text_length(text), text.size()) << text;
}

TEST(TextRules, StopsAtWhatATerminalObeys) {
  EXPECT_EQ(plain_text_length("ab\x1b[31m"sv), 2u);
  EXPECT_EQ(plain_text_length("ab\0c"sv), 2u);
  EXPECT_EQ(plain_text_length("ab\x7f"sv), 2u);
  EXPECT_EQ(plain_text_length("ab\xC2\x9B"
                              "31m"sv),
            2u);  // CSI in one character
}

TEST(TextRules, StopsAtWhatIsNoUtf8) {
  EXPECT_EQ(plain_text_length("a\x9b"sv), 1u);
  EXPECT_EQ(plain_text_length("a\xff"sv), 1u);
  EXPECT_EQ(plain_text_length("a\xC3"sv), 1u);              // cut off
  EXPECT_EQ(plain_text_length("a\xC0\xAF"sv), 1u);          // too long
  EXPECT_EQ(plain_text_length("a\xED\xA0\x80"sv), 1u);      // a surrogate
  EXPECT_EQ(plain_text_length("a\xF4\x90\x80\x80"sv), 1u);  // above U+10FFFF
}

}  // namespace
}  // namespace cephmark
