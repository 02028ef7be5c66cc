#include "stats/summary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"

namespace cephmark {
namespace {

using Values = std::vector<double>;

TEST(Summary, MeanSpreadAndQuantiles) {
  const Values values = {4, 1, 3, 2};
  EXPECT_DOUBLE_EQ(mean(values), 2.5);
  EXPECT_NEAR(sample_stddev(values), 1.2909944487, 1e-9);
  EXPECT_DOUBLE_EQ(median(values), 2.5);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 1.75);
  EXPECT_DOUBLE_EQ(quantile(values, 0), 1);
  EXPECT_DOUBLE_EQ(quantile(values, 1), 4);
  EXPECT_EQ(mean({}), 0);
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(sample_stddev(Values{3}), 0);
}

// Values from the tables that every book of statistics has.
TEST(Summary, StudentT) {
  EXPECT_NEAR(student_t(0.95, 1), 12.7062, 1e-4);
  EXPECT_NEAR(student_t(0.95, 4), 2.77645, 1e-5);
  EXPECT_NEAR(student_t(0.99, 9), 3.24984, 1e-5);
  EXPECT_NEAR(student_t(0.90, 30), 1.69726, 1e-5);
  EXPECT_NEAR(student_t(0.95, 100000), 1.95999, 1e-4);
  EXPECT_NEAR(student_t(0.5, 2), 0.81650, 1e-5);
}

TEST(Summary, MeanInterval) {
  const ConfidenceInterval interval = mean_interval(Values{1, 2, 3, 4, 5});
  EXPECT_TRUE(interval.valid);
  EXPECT_NEAR(interval.low, 3 - 2.77645 * std::sqrt(0.5), 1e-4);
  EXPECT_NEAR(interval.high, 3 + 2.77645 * std::sqrt(0.5), 1e-4);
  EXPECT_FALSE(mean_interval(Values{7}).valid);
  EXPECT_EQ(mean_interval(Values{7}).low, 7);
}

// An interval of 90 % must hold the true mean in about 90 of 100 experiments, whichever way it was
// made.
TEST(Summary, IntervalsCoverAsOftenAsTheySay) {
  Rng rng(3);
  int by_t = 0, by_bootstrap = 0;
  constexpr int kExperiments = 1000;
  for (int experiment = 0; experiment < kExperiments; ++experiment) {
    Values values;
    for (int i = 0; i < 20; ++i) values.push_back(rng.uniform() + rng.uniform());
    const auto t = mean_interval(values, 0.9);
    const auto b = bootstrap_mean_interval(values, 0.9, 200, experiment);
    by_t += t.low <= 1 && 1 <= t.high;
    by_bootstrap += b.low <= 1 && 1 <= b.high;
  }
  EXPECT_NEAR(by_t, 0.9 * kExperiments, 35);
  EXPECT_NEAR(by_bootstrap, 0.88 * kExperiments, 45);
}

TEST(Summary, JainFairness) {
  EXPECT_DOUBLE_EQ(jain_fairness(Values{5, 5, 5}), 1);
  EXPECT_DOUBLE_EQ(jain_fairness(Values{1, 0, 0, 0}), 0.25);
  EXPECT_DOUBLE_EQ(jain_fairness(Values{0, 0}), 1);
  EXPECT_DOUBLE_EQ(jain_fairness({}), 1);
  EXPECT_NEAR(jain_fairness(Values{1, 2, 3}), 36.0 / 42, 1e-12);
}

}  // namespace
}  // namespace cephmark
