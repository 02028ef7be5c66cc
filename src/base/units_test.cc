#include "base/units.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cephmark {
namespace {

TEST(Units, SizesCarryAUnit) {
  EXPECT_EQ(parse_size("20G", "--create"), 20 * kGiB);
  EXPECT_EQ(parse_size("1.5GiB", "--create"), 3 * kGiB / 2);
  EXPECT_EQ(parse_size("4kB", "--create"), 4000u);
  EXPECT_EQ(parse_size("512B", "--create"), 512u);
  EXPECT_THROW(parse_size("20", "--create"), UsageError);
  EXPECT_THROW(parse_size("20X", "--create"), UsageError);
  EXPECT_THROW(parse_size("-1G", "--create"), UsageError);
  EXPECT_THROW(parse_size("inf", "--create"), UsageError);
  EXPECT_THROW(parse_size("9999999P", "--create"), UsageError);
}

TEST(Units, ABareNumberIsRefusedWithBothReadings) {
  try {
    parse_size("20", "--create");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_EQ(error.hint(), "20B is 20 bytes, 20M is 20 MiB: say which");
  }
}

TEST(Units, Durations) {
  EXPECT_EQ(parse_duration_ns("30s", "--time"), 30'000'000'000);
  EXPECT_EQ(parse_duration_ns("1.5m", "--time"), 90'000'000'000);
  EXPECT_THROW(parse_duration_ns("30", "--time"), UsageError);
}

TEST(Units, Texts) {
  EXPECT_EQ(format_size(4096), "4 KiB");
  EXPECT_EQ(format_size(1536), "1.50 KiB");
  EXPECT_EQ(format_duration(850), "850 ns");
  EXPECT_EQ(format_duration(12'340), "12.3 us");
  EXPECT_EQ(format_duration(125'000'000'000), "2m 05s");
  EXPECT_EQ(format_count(1234567), "1,234,567");
  EXPECT_EQ(format_rate(22334750), "21.3 MiB/s");
}

}  // namespace
}  // namespace cephmark
