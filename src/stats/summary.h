// Summary: what a handful of numbers say: mean, spread, quantiles, intervals of confidence,
// fairness. Pure functions. For per-VM values, repeated runs and interval samples; latencies have
// their own type (histogram.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace cephmark {

/// 0 for no values.
double mean(std::span<const double> values);
/// Of the sample (divided by n - 1); 0 for fewer than two values.
double sample_stddev(std::span<const double> values);
/// Linear between the two nearest ranks (the rule of numpy and R's type 7), q in [0, 1]; 0 for no
/// values. Sorts a copy.
double quantile(std::span<const double> values, double q);
double median(std::span<const double> values);

struct Interval {
  double low = 0;
  double high = 0;
};

/// The t with which P(|T| <= t) = confidence for Student's T of `degrees` degrees of freedom
/// (at least 1); confidence in (0, 1): 2.776 for 0.95 and 4.
double student_t(double confidence, int degrees);

/// Where the mean of what the values were drawn from lies with that confidence, if they are
/// independent and roughly normal. For fewer than two values nothing can be said: both ends are the
/// mean and `valid` of ConfidenceInterval is false.
struct ConfidenceInterval : Interval {
  bool valid = false;
};
ConfidenceInterval mean_interval(std::span<const double> values, double confidence = 0.95);

/// The same without assuming a shape: percentile bootstrap of the mean with `rounds` resamples;
/// same seed, same answer.
ConfidenceInterval bootstrap_mean_interval(std::span<const double> values, double confidence = 0.95,
                                           int rounds = 2000, uint64_t seed = 1);

/// Jain's index (sum x)^2 / (n * sum x^2): 1 when all get the same, 1/n when one gets everything. 1
/// for no values or when nobody got anything (nobody was favoured).
double jain_fairness(std::span<const double> values);

}  // namespace cephmark
