// The contract of every row of the distribution table, and what each distribution is for.
#include "workload/offset_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "workload/permutation.h"

namespace cephmark {
namespace {

OffsetSetup setup_for(Distribution::Kind kind, uint64_t blocks, uint64_t seed = 1) {
  OffsetSetup setup;
  setup.blocks = blocks;
  setup.seed = seed;
  setup.distribution.kind = kind;
  switch (kind) {
    case Distribution::Kind::kZipf:
      setup.distribution.parameter = 1.1;
      break;
    case Distribution::Kind::kPareto:
      setup.distribution.parameter = 0.2;
      break;
    case Distribution::Kind::kNormal:
      setup.distribution.parameter = 10;
      break;
    case Distribution::Kind::kZoned:
      setup.distribution.zones = {{60, 10, 0}, {30, 20, 0}, {10, 70, 0}};
      break;
    case Distribution::Kind::kZonedAbsolute:
      setup.distribution.zones = {{100, 0, 4096}};
      break;
    case Distribution::Kind::kUniform:
      break;
  }
  return setup;
}

std::vector<uint64_t> draw(OffsetSource& source, size_t count) {
  std::vector<uint64_t> blocks(count);
  blocks.resize(source.next(blocks));
  return blocks;
}

class DistributionTable : public testing::TestWithParam<DistributionRow> {};

TEST_P(DistributionTable, StaysInsideRepeatsWithItsSeedAndSaysWhatItCovers) {
  const DistributionRow& row = GetParam();
  EXPECT_FALSE(row.name.empty());
  EXPECT_FALSE(row.summary.empty());
  for (const uint64_t blocks :
       {1ull, 2ull, 3ull, 5ull, 64ull, 1000ull, 65537ull, (1ull << 40) + 3}) {
    const auto source = row.create(setup_for(row.kind, blocks)),
               again = row.create(setup_for(row.kind, blocks));
    for (int batch = 0; batch < 20; ++batch) {
      const size_t asked = 1 + batch * 7;
      const auto drawn = draw(*source, asked);
      ASSERT_EQ(drawn, draw(*again, asked));
      for (const uint64_t block : drawn) ASSERT_LT(block, blocks);
      if (!row.covers) {
        ASSERT_EQ(drawn.size(), asked);
      }
    }
  }
  const auto one = row.create(setup_for(row.kind, 1 << 20, 1)),
             two = row.create(setup_for(row.kind, 1 << 20, 2));
  if (row.kind != Distribution::Kind::kZonedAbsolute) {  // its one zone here is a single block
    EXPECT_NE(draw(*one, 50), draw(*two, 50));
  }
}

TEST_P(DistributionTable, IsFoundByItsKind) {
  Distribution distribution;
  distribution.kind = GetParam().kind;
  EXPECT_EQ(distribution_row(distribution, !GetParam().covers).name, GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(Rows, DistributionTable,
                         testing::ValuesIn(distribution_table().begin(),
                                           distribution_table().end()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(CoveringSource, EveryBlockOncePerPassInAnotherOrder) {
  for (const uint64_t blocks : {1ull, 2ull, 3ull, 4ull, 5ull, 7ull, 63ull, 64ull, 65ull, 1000ull,
                                4096ull, 4097ull, 100'003ull}) {
    const auto source = make_covering_source(setup_for(Distribution::Kind::kUniform, blocks));
    std::vector<uint64_t> first;
    for (uint64_t pass = 0; pass < 3; ++pass) {
      if (pass > 0) source->begin_pass(pass);
      std::vector<uint64_t> order;
      for (auto batch = draw(*source, 64); !batch.empty(); batch = draw(*source, 64))
        order.insert(order.end(), batch.begin(), batch.end());
      if (pass == 0) first = order;
      if (pass > 0 && blocks > 60) {
        EXPECT_NE(order, first);
      }
      std::sort(order.begin(), order.end());
      ASSERT_EQ(order.size(), blocks);
      for (uint64_t i = 0; i < blocks; ++i) ASSERT_EQ(order[i], i);
    }
  }
}

// A shuffling that is only a bijection could still be a walk: neighbours must be unrelated and
// every part of the region be met at any time.
TEST(CoveringSource, LooksRandom) {
  for (const uint64_t blocks :
       {uint64_t{1} << 18, uint64_t{262'145}, uint64_t{400'000}, uint64_t{1} << 28}) {
    const auto source = make_covering_source(setup_for(Distribution::Kind::kUniform, blocks, 5));
    const size_t n = 100'000;
    std::vector<uint64_t> order;
    while (order.size() < n)
      for (const uint64_t block : draw(*source, 64)) order.push_back(block);
    double mean = 0, square = 0, product = 0;
    std::array<int, 16> parts{};
    int near = 0;
    for (size_t i = 0; i + 1 < n; ++i) {
      const double x = static_cast<double>(order[i]) / static_cast<double>(blocks) - 0.5;
      const double y = static_cast<double>(order[i + 1]) / static_cast<double>(blocks) - 0.5;
      mean += x, square += x * x, product += x * y;
      near += std::abs(x - y) < 0.01;
      if (i < 10'000) ++parts[order[i] * 16 / blocks];
    }
    const double count = static_cast<double>(n - 1);
    EXPECT_NEAR(mean / count, 0, 0.005) << blocks;
    EXPECT_NEAR(square / count, 1.0 / 12, 0.002) << blocks;
    EXPECT_NEAR(product / square, 0, 0.02) << blocks;
    EXPECT_NEAR(near / count, 0.02, 0.003) << blocks;
    for (const int part : parts) EXPECT_NEAR(part, 625, 110) << blocks;
  }
}

TEST(UniformSource, AllBlocksEquallyLikely) {
  const auto source = make_uniform_source(setup_for(Distribution::Kind::kUniform, 10));
  std::array<int, 10> hits{};
  for (const uint64_t block : draw(*source, 100'000)) ++hits[block];
  for (const int hit : hits) EXPECT_NEAR(hit, 10'000, 500);
}

std::vector<double> shares_by_popularity(OffsetSource& source, size_t draws) {
  std::map<uint64_t, double> hits;
  for (const uint64_t block : draw(source, draws)) ++hits[block];
  std::vector<double> shares;
  for (const auto& [block, count] : hits) shares.push_back(count / static_cast<double>(draws));
  std::sort(shares.rbegin(), shares.rend());
  return shares;
}

TEST(ZipfSource, RanksFollowThePowerLaw) {
  for (const double theta : {0.8, 1.0, 1.1, 2.0}) {
    OffsetSetup setup = setup_for(Distribution::Kind::kZipf, 1000);
    setup.distribution.parameter = theta;
    const auto shares = shares_by_popularity(*make_zipf_source(setup), 400'000);
    double total = 0;
    for (int k = 1; k <= 1000; ++k) total += std::pow(k, -theta);
    for (const int k : {1, 2, 3, 5, 10})
      EXPECT_NEAR(shares[k - 1], std::pow(k, -theta) / total, 0.003) << theta << " " << k;
  }
}

TEST(ParetoSource, AShareHGetsTheRest) {
  const auto source = make_pareto_source(setup_for(Distribution::Kind::kPareto, 10'000));
  const auto shares = shares_by_popularity(*source, 500'000);
  double top = 0;
  for (size_t i = 0; i < 2000 && i < shares.size(); ++i) top += shares[i];
  EXPECT_NEAR(top, 0.8, 0.02);
}

TEST(NormalSource, AboutTwoThirdsWithinOneDeviation) {
  const auto source = make_normal_source(setup_for(Distribution::Kind::kNormal, 10'000));
  const auto shares = shares_by_popularity(*source, 400'000);
  double top = 0;
  for (size_t i = 0; i < 2000; ++i) top += shares[i];  // +- 10 % of the blocks
  EXPECT_NEAR(top, 0.70, 0.04);
}

TEST(NormalSource, ATinyDeviationAtTheEndOfTheRangeStillLeadsIntoIt) {
  OffsetSetup setup = setup_for(Distribution::Kind::kNormal, 10'000);
  setup.distribution.parameter = 1e-20;
  for (const double center : {0.0, 1.0}) {
    setup.distribution.center = center;
    for (const uint64_t block : draw(*make_normal_source(setup), 100)) EXPECT_LT(block, 10'000u);
  }
}

// Hot blocks are scattered, and another center moves them.
TEST(ScatteredSources, HotBlocksLieAllOver) {
  for (const auto& row : distribution_table()) {
    if (row.kind != Distribution::Kind::kZipf && row.kind != Distribution::Kind::kPareto &&
        row.kind != Distribution::Kind::kNormal)
      continue;
    std::map<uint64_t, int> hits;
    for (const uint64_t block : draw(*row.create(setup_for(row.kind, 100'000)), 200'000))
      ++hits[block];
    std::vector<std::pair<int, uint64_t>> hot;
    for (const auto& [block, count] : hits) hot.push_back({count, block});
    std::sort(hot.rbegin(), hot.rend());
    std::array<int, 4> quarters{};
    for (int i = 0; i < 100; ++i) ++quarters[hot[i].second / 25'000];
    for (const int quarter : quarters) EXPECT_GT(quarter, 8) << row.name;
  }
}

TEST(ZonedSource, EachZoneGetsItsShare) {
  std::array<int, 3> hits{};
  for (const uint64_t block :
       draw(*make_zoned_source(setup_for(Distribution::Kind::kZoned, 1000)), 100'000))
    ++hits[block < 100 ? 0 : block < 300 ? 1 : 2];
  EXPECT_NEAR(hits[0], 60'000, 800);
  EXPECT_NEAR(hits[1], 30'000, 800);
  EXPECT_NEAR(hits[2], 10'000, 800);
  OffsetSetup absolute = setup_for(Distribution::Kind::kZonedAbsolute, 1000);
  absolute.distribution.zones = {{25, 0, 10 * 4096}, {0, 0, 90 * 4096}, {75, 0, 1ull << 40}};
  int first = 0;
  for (const uint64_t block : draw(*make_zoned_source(absolute), 10'000)) {
    EXPECT_TRUE(block < 10 || block >= 100) << block;
    first += block < 10;
  }
  EXPECT_NEAR(first, 2500, 200);
}

TEST(Distributions, ParametersOutOfTheirDomainAreRefused) {
  const auto refused = [](Distribution::Kind kind, auto change) {
    OffsetSetup setup = setup_for(kind, 1000);
    change(setup.distribution);
    for (const auto& row : distribution_table())
      if (row.kind == kind && !row.covers) {
        EXPECT_THROW(row.create(setup), UsageError) << row.name;
      }
  };
  using Kind = Distribution::Kind;
  refused(Kind::kZipf, [](Distribution& d) { d.parameter = 0; });
  refused(Kind::kZipf, [](Distribution& d) { d.parameter = NAN; });
  refused(Kind::kPareto, [](Distribution& d) { d.parameter = 1; });
  refused(Kind::kNormal, [](Distribution& d) { d.parameter = 0; });
  refused(Kind::kNormal, [](Distribution& d) { d.center = 2; });
  refused(Kind::kZoned, [](Distribution& d) { d.zones = {{90, 50, 0}}; });
  refused(Kind::kZoned, [](Distribution& d) { d.zones = {{50, 80, 0}, {50, 80, 0}}; });
  refused(Kind::kZonedAbsolute, [](Distribution& d) {
    d.zones = {{50, 0, 1 << 30}, {50, 0, 4096}};
  });
}

}  // namespace
}  // namespace cephmark
