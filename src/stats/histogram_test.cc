#include "stats/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/rng.h"

namespace cephmark {
namespace {

/// fio's buckets, written from the description (fio.md 2.2) and not from our code: 64 linear ones
/// per power of two, values below 128 exactly, 29 groups; a bucket stands for the middle between
/// its edges.
int fio_bucket(uint64_t ns) {
  if (ns < 128) return static_cast<int>(ns);
  int power = 0;
  while ((ns >> power) > 1) ++power;
  const uint64_t group_low = uint64_t{1} << power, width = group_low / 64;
  return 64 * (power - 5) + static_cast<int>((ns - group_low) / width);
}

double fio_bucket_value(int bucket) {
  if (bucket < 128) return bucket;
  const int power = bucket / 64 + 5;
  const double width = std::ldexp(1.0, power) / 64;
  return std::ldexp(1.0, power) + (bucket % 64 + 0.5) * width;
}

/// Latencies over many powers of ten, as a slow and a fast target mixed would give.
std::vector<int64_t> samples(int n, uint64_t seed) {
  Rng rng(seed);
  std::vector<int64_t> values;
  for (int i = 0; i < n; ++i)
    values.push_back(static_cast<int64_t>(std::exp(rng.uniform() * 25.0)) - 1);
  return values;
}

Histogram histogram_of(const std::vector<int64_t>& values) {
  Histogram h;
  for (const int64_t value : values) h.add(value);
  return h;
}

TEST(Histogram, BucketsAreFiosBelowItsRange) {
  constexpr int64_t kFioRange = int64_t{1} << 34;
  EXPECT_EQ(fio_bucket(kFioRange - 1), 1855);
  int last = -1;
  for (int64_t edge = 0; edge < kFioRange; edge = edge < 128 ? edge + 1 : edge + edge / 64 + 1)
    for (const int64_t ns : {edge - 1, edge, edge + 1}) {
      if (ns < 0 || ns >= kFioRange) continue;
      ASSERT_EQ(Histogram::bucket_of(ns), fio_bucket(ns)) << ns;
      last = std::max(last, Histogram::bucket_of(ns));
    }
  for (int bucket = 0; bucket <= 1855; ++bucket)
    ASSERT_EQ(static_cast<double>(Histogram::bucket_middle(bucket)), fio_bucket_value(bucket));
  EXPECT_GE(last, 1850);
}

TEST(Histogram, BucketsTileTheRangeAndAreNarrow) {
  EXPECT_EQ(Histogram::bucket_low(0), 0);
  EXPECT_EQ(Histogram::bucket_low(Histogram::kBuckets), Histogram::kRange_ns);
  for (int i = 0; i < Histogram::kBuckets; ++i) {
    const int64_t low = Histogram::bucket_low(i), next = Histogram::bucket_low(i + 1);
    ASSERT_LT(low, next);
    ASSERT_EQ(Histogram::bucket_of(low), i);
    ASSERT_EQ(Histogram::bucket_of(next - 1), i);
    const double error =
        std::max(Histogram::bucket_middle(i) - low, next - 1 - Histogram::bucket_middle(i));
    ASSERT_LE(error, std::max<double>(low, 1) / 128);
  }
}

TEST(Histogram, QuantilesAreThoseOfTheSortedSamples) {
  for (const int n : {1, 2, 3, 7, 100, 1000, 20000}) {
    std::vector<int64_t> values = samples(n, 7 + n);
    const Histogram h = histogram_of(values);
    std::sort(values.begin(), values.end());
    for (int permyriad = 0; permyriad <= 10000; permyriad += 7) {
      // In whole numbers, so that the expectation has no rounding of its own.
      const int64_t rank = std::max<int64_t>(1, (int64_t{permyriad} * n + 9999) / 10000);
      const int64_t exact = values[rank - 1];
      const int64_t middle = std::clamp(Histogram::bucket_middle(Histogram::bucket_of(exact)),
                                        values.front(), values.back());
      ASSERT_EQ(h.quantile_ns(permyriad / 10000.0), middle) << n << " " << permyriad;
    }
  }
}

TEST(Histogram, CountsSumsAndSpreadAreExact) {
  const Histogram h = histogram_of({10, 20, 30, 40, -5});
  EXPECT_EQ(h.count(), 5u);
  EXPECT_EQ(h.min_ns(), 0);
  EXPECT_EQ(h.max_ns(), 40);
  EXPECT_DOUBLE_EQ(h.mean_ns(), 20);
  EXPECT_NEAR(h.stddev_ns(), std::sqrt(200.0), 1e-9);
  EXPECT_EQ(Histogram().quantile_ns(0.5), 0);
  EXPECT_EQ(Histogram().mean_ns(), 0);
  Histogram nothing;
  nothing.add(5, 0);
  EXPECT_TRUE(nothing.empty());
  EXPECT_EQ(nothing.max_ns(), 0);
}

// NUM-07: a percentile above the range must be told as a lower bound, the maximum stays exact.
TEST(Histogram, AboveTheRangeIsCountedAndShownAsAFloor) {
  Histogram h;
  h.add(1000, 90);
  h.add(Histogram::kRange_ns + 5, 10);
  EXPECT_EQ(h.count(), 100u);
  EXPECT_EQ(h.overflow(), 10u);
  EXPECT_EQ(h.max_ns(), Histogram::kRange_ns + 5);
  EXPECT_FALSE(h.quantile_is_floor(0.9));
  EXPECT_LT(h.quantile_ns(0.9), 1020);
  EXPECT_TRUE(h.quantile_is_floor(0.91));
  EXPECT_EQ(h.quantile_ns(0.91), Histogram::kRange_ns);
  EXPECT_EQ(h.quantile_ns(1.0), Histogram::kRange_ns);
  // The slow target of the report: latencies around 41 s are well inside the range.
  Histogram slow;
  slow.add(41'000'000'000, 99);
  slow.add(94'000'000'000);
  EXPECT_FALSE(slow.quantile_is_floor(0.999));
  EXPECT_NEAR(static_cast<double>(slow.quantile_ns(0.5)), 41e9, 41e9 / 128);
}

TEST(Histogram, MergeIsAssociativeAndCommutative) {
  const Histogram a = histogram_of(samples(500, 1)), b = histogram_of(samples(700, 2));
  Histogram c = histogram_of(samples(300, 3));
  c.add(Histogram::kRange_ns);
  Histogram left = a, right = c, bc = b;
  left.merge(b);
  left.merge(c);
  right.merge(b);
  right.merge(a);
  bc.merge(c);
  Histogram nested = a;
  nested.merge(bc);
  nested.merge(Histogram());
  for (const Histogram* other : {&right, &nested}) {
    EXPECT_EQ(left.to_json()["buckets"], other->to_json()["buckets"]);
    EXPECT_EQ(left.count(), other->count());
    EXPECT_EQ(left.overflow(), other->overflow());
    EXPECT_EQ(left.min_ns(), other->min_ns());
    EXPECT_EQ(left.max_ns(), other->max_ns());
    EXPECT_NEAR(left.sum_ns(), other->sum_ns(), left.sum_ns() * 1e-12);
  }
  Histogram empty;
  empty.merge(a);
  EXPECT_EQ(empty.to_json(), a.to_json());
}

TEST(Histogram, ResetForgetsEverything) {
  Histogram h = histogram_of({5, Histogram::kRange_ns});
  h.reset();
  EXPECT_EQ(h.to_json(), Histogram().to_json());
  h.add(7);
  EXPECT_EQ(h.min_ns(), 7);
}

TEST(Histogram, JsonRoundTrip) {
  Histogram full = histogram_of(samples(2000, 4));
  full.add(Histogram::kRange_ns * 2);
  Histogram above;
  above.add(Histogram::kRange_ns * 2);
  for (const Histogram& h : {Histogram(), histogram_of({0}), full, above}) {
    const std::string text = h.to_json().dump();
    EXPECT_EQ(Histogram::from_json(parse_json(text, "h"), "h").to_json().dump(), text);
  }
}

TEST(Histogram, HostileJsonIsRefused) {
  const std::string good =
      R"({"count":3,"min_ns":5,"max_ns":9,"sum_ns":21.0,"sum_squares":155.0,"overflow":0,"buckets":[[5,1],[7,1],[9,1]]})";
  ASSERT_NO_THROW(Histogram::from_json(parse_json(good, "h"), "h"));
  const std::vector<std::pair<std::string, std::string>> edits = {
      {R"("count":3)", R"("count":-3)"},
      {R"("count":3)", R"("count":4)"},
      {R"("count":3)", R"("count":2)"},
      {R"("count":3)", R"("count":3.0)"},
      {R"("count":3)", R"("count":18446744073709551616)"},
      {R"("count":3)", R"("count":"3")"},
      {R"("count":3,)", R"()"},
      {R"("count":3)", R"("count":3,"more":1)"},
      {R"("overflow":0)", R"("overflow":4)"},
      {R"("overflow":0)", R"("overflow":1)"},
      {R"("overflow":0)", R"("overflow":null)"},
      {"[5,1]", "[5,-1]"},
      {"[5,1]", "[5,0]"},
      {"[5,1]", "[5,18446744073709551615]"},
      {"[5,1]", "[5,2]"},
      {"[5,1]", "[5]"},
      {"[5,1]", "5"},
      {"[5,1]", "[-5,1]"},
      {"[7,1]", "[2432,1]"},
      {"[7,1]", "[4294967303,1]"},
      {"[7,1]", "[5,1]"},
      {"[7,1]", "[9,1]"},
      {"[7,1],", ""},
      {R"("min_ns":5)", R"("min_ns":4)"},
      {R"("min_ns":5)", R"("min_ns":-1)"},
      {R"("max_ns":9)", R"("max_ns":8796093022208)"},
      {R"("max_ns":9)", R"("max_ns":8)"},
      {R"("sum_ns":21.0)", R"("sum_ns":28.0)"},
      {R"("sum_ns":21.0)", R"("sum_ns":14.0)"},
      {R"("sum_ns":21.0)", R"("sum_ns":-21.0)"},
      {R"("sum_squares":155.0)", R"("sum_squares":1.0)"},
      {R"("sum_squares":155.0)", R"("sum_squares":1e9)"},
      {R"("buckets":[)", R"("buckets":[[]],"x":[)"},
  };
  for (const auto& [from, to] : edits) {
    std::string bad = good;
    bad.replace(bad.find(from), from.size(), to);
    EXPECT_THROW(Histogram::from_json(parse_json(bad, "h"), "h"), Error) << bad;
  }
  for (
      const char* bad :
      {"[]", "null", "3", "{}",
       R"({"count":0,"min_ns":0,"max_ns":7,"sum_ns":0,"sum_squares":0,"overflow":0,"buckets":[]})"})
    EXPECT_THROW(Histogram::from_json(parse_json(bad, "h"), "h"), Error) << bad;
}

TEST(Histogram, AnErrorNamesDocumentAndKey) {
  try {
    Histogram::from_json(parse_json(R"({"count":-1,"a":0,"b":0,"c":0,"d":0,"e":0,"f":0})", "x"),
                         "host b: response");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "host b: response: \"count\" is negative (-1)");
  }
}

}  // namespace
}  // namespace cephmark
