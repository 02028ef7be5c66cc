#include "base/crc32.h"

#include <gtest/gtest.h>

#include <string>

namespace cephmark {
namespace {

uint32_t of(const std::string& text) {
  return crc32(std::as_bytes(std::span(text)));
}

TEST(Crc32, KnownValues) {
  EXPECT_EQ(of(""), 0u);
  EXPECT_EQ(of("123456789"), 0xcbf43926u);
  EXPECT_EQ(of("The quick brown fox jumps over the lazy dog"), 0x414fa339u);
}

TEST(Crc32, EveryByteCounts) {
  std::string text(41, 'x');
  const uint32_t whole = of(text);
  for (size_t i = 0; i < text.size(); ++i) {
    text[i] = 'y';
    EXPECT_NE(of(text), whole) << i;
    text[i] = 'x';
  }
}

}  // namespace
}  // namespace cephmark
