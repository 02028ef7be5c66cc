#include "job/numbers.h"

#include <gtest/gtest.h>

namespace cephmark {
namespace {

struct Row {
  const char* text;
  int64_t value;
  bool trap;
};

// Values read from fio 3.33 (tests/peer asks the real one again).
TEST(Numbers, SizesUnderTheDefaultBase) {
  const Row rows[] = {
      {"4096", 4096, false},
      {"4k", 4096, false},
      {"4K", 4096, false},
      {"4kb", 4096, false},
      {"4Ki", 4096, false},
      {"4kib", 4000, true},
      {"4KiB", 4000, true},
      {"1m", 1048576, false},
      {"1MiB", 1000000, true},
      {"2g", int64_t{2} << 30, false},
      {"1t", int64_t{1} << 40, false},
      {"1p", int64_t{1} << 50, false},
      {"65536B", 65536, false},
      {"1.5k", 1, true},
      {"1.5g", 1, true},
      {"1e3", 1, true},
      {"4q", 4, true},
      {" 8k", 8, true},
      {" 16", 16, false},
      {"0x10", 16, false},
      {"0x1000", 4096, false},
      {"4kfoo", 4096, true},
      {"-4k", -4096, false},
      {"+4k", 4096, false},
      {"4k-8k", 4096, false},
      {"4k:8k", 4096, false},
  };
  for (const Row& row : rows) {
    const NumberReading reading = read_number(row.text, NumberKind::kBytes);
    EXPECT_TRUE(reading.ok()) << row.text << ": " << reading.problem;
    EXPECT_EQ(reading.value, row.value) << row.text;
    EXPECT_EQ(!reading.trap.empty(), row.trap) << row.text << ": " << reading.trap;
  }
}

TEST(Numbers, SizesUnderTheDecimalBase) {
  EXPECT_EQ(read_number("1k", NumberKind::kBytes, 1000).value, 1000);
  EXPECT_EQ(read_number("1KiB", NumberKind::kBytes, 1000).value, 1024);
  EXPECT_EQ(read_number("1gb", NumberKind::kBytes, 1000).value, 1'000'000'000);
  EXPECT_EQ(read_number("1KiB", NumberKind::kBytes, 1000).trap, "");
}

TEST(Numbers, Times) {
  const Row rows[] = {
      {"10", 10'000'000, false},    {"10s", 10'000'000, false},
      {"10S", 10'000'000, false},   {"5ms", 5000, false},
      {"5msec", 5000, false},       {"7us", 7, false},
      {"7usec", 7, false},          {"2m", 120'000'000, false},
      {"1h", 3'600'000'000, false}, {"1d", 86'400'000'000, false},
      {"10sec", 10, true},          {"2min", 2, true},
      {"1hour", 1, true},           {"1.5h", 1'000'000, true},
      {" 3", 3'000'000, false},     {"1m30s", 1, true},
  };
  for (const Row& row : rows) {
    const NumberReading reading = read_number(row.text, NumberKind::kSeconds);
    EXPECT_TRUE(reading.ok()) << row.text;
    EXPECT_EQ(reading.value, row.value) << row.text;
    EXPECT_EQ(!reading.trap.empty(), row.trap) << row.text << ": " << reading.trap;
  }
  EXPECT_EQ(read_number("10", NumberKind::kMicroseconds).value, 10);
}

TEST(Numbers, WhatIsNoNumber) {
  for (const char* text : {"", "abc", "k", "-", "(4k", "(4k)m", "(1/0)", "(1.5k)", "(-4k)", "(4x)",
                           "()", "99999999999999999999", "9999999999g", " "})
    EXPECT_FALSE(read_number(text, NumberKind::kBytes).ok()) << text;
  EXPECT_FALSE(read_number("9223372036854775807d", NumberKind::kSeconds).ok());
}

TEST(Numbers, Brackets) {
  const auto bytes = [](std::string_view text, unsigned base = 1024) {
    const NumberReading reading = read_number(text, NumberKind::kBytes, base);
    EXPECT_TRUE(reading.ok() && !reading.trap.empty()) << text << reading.problem;
    return reading.value;
  };
  EXPECT_EQ(bytes("(4*1024)"), 4096);
  EXPECT_EQ(bytes("(4k + 4k)"), 8192);
  EXPECT_EQ(bytes("((1m - 4k) / 2)"), (1048576 - 4096) / 2);
  EXPECT_EQ(bytes("(7 % 4)"), 3);
  EXPECT_EQ(bytes("(4k)", 1000), 4000);
  const auto time = [](std::string_view text, NumberKind kind) {
    return read_number(text, kind).value;
  };
  EXPECT_EQ(time("(3*5)", NumberKind::kSeconds), 15'000'000);
  EXPECT_EQ(time("(1m+500ms)", NumberKind::kSeconds), 60'500'000);
  EXPECT_EQ(time("(3*5)", NumberKind::kMicroseconds), 15);
  EXPECT_FALSE(read_number("(10sec)", NumberKind::kSeconds).ok()) << "no unit of fio's";
}

TEST(Numbers, PerCent) {
  EXPECT_TRUE(read_number("50%", NumberKind::kBytes).percent);
  EXPECT_EQ(read_number("50%", NumberKind::kBytes).value, 50);
  EXPECT_FALSE(read_number("50", NumberKind::kBytes).percent);
}

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> out;
  for (const auto part : split_values(text).parts) out.emplace_back(part);
  return out;
}

TEST(Numbers, Lists) {
  using Parts = std::vector<std::string>;
  EXPECT_EQ(parts_of("4k"), Parts({"4k"}));
  EXPECT_EQ(parts_of("4k,8k"), Parts({"4k", "8k"}));
  EXPECT_EQ(parts_of(",8k"), Parts({"", "8k"}));
  EXPECT_EQ(parts_of("4k,,16k"), Parts({"4k", "", "16k"}));
  EXPECT_EQ(parts_of("4k,"), Parts({"4k"}));
  EXPECT_EQ(parts_of("4k-8k"), Parts({"4k", "8k"}));
  EXPECT_EQ(parts_of("4:8"), Parts({"4", "8"}));
  EXPECT_EQ(parts_of("-4k"), Parts({"-4k"}));
  EXPECT_TRUE(split_values("4k-8k").dash_split);
  EXPECT_FALSE(split_values("4k,8k").dash_split);
}

TEST(Numbers, Booleans) {
  EXPECT_EQ(read_bool("1"), 1ul);
  EXPECT_EQ(read_bool(" 1abc"), 1ul);
  EXPECT_EQ(read_bool("0x1"), 1ul);
  EXPECT_FALSE(read_bool("yes").has_value());
  EXPECT_FALSE(read_bool("").has_value());
}

TEST(Numbers, Fractions) {
  std::string_view rest;
  EXPECT_EQ(read_fraction("1.2:0.5", &rest), 1.2);
  EXPECT_EQ(rest, ":0.5");
  EXPECT_FALSE(read_fraction("nan").has_value());
  EXPECT_FALSE(read_fraction("1e999").has_value());
  EXPECT_FALSE(read_fraction("1.2x").has_value());
}

TEST(Numbers, Arithmetic) {
  EXPECT_EQ(evaluate_arithmetic("2*4096"), 8192);
  EXPECT_EQ(evaluate_arithmetic("(1+2)*3 - 4/2"), 7);
  EXPECT_EQ(evaluate_arithmetic("-3+5"), 2);
  for (const char* text : {"", "1/0", "2*", "(1", "4k+1", "9223372036854775807+1", "1 2"})
    EXPECT_FALSE(evaluate_arithmetic(text).has_value()) << text;
  EXPECT_FALSE(evaluate_arithmetic(std::string(100000, '(')).has_value());
  EXPECT_FALSE(evaluate_arithmetic(std::string(100000, '-')).has_value());
}

}  // namespace
}  // namespace cephmark
