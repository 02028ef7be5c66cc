#include "stats/summary.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/rng.h"

namespace cephmark {
namespace {

/// Regularised incomplete beta function I_x(a, b) by its continued fraction (modified Lentz), which
/// converges fast for x < (a + 1) / (a + b + 2); the symmetry I_x(a, b) = 1 - I_{1-x}(b, a) covers
/// the rest.
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(b, a, 1 - x);
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x)) /
                       a;
  constexpr double kTiny = 1e-300;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < kTiny ? kTiny : d);
  double fraction = d;
  for (int m = 1; m < 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double step = 1;
    for (const double term : {even, odd}) {
      d = 1 + term * d;
      d = 1 / (std::abs(d) < kTiny ? kTiny : d);
      c = 1 + term / c;
      if (std::abs(c) < kTiny) c = kTiny;
      step = c * d;
      fraction *= step;
    }
    if (std::abs(step - 1) < 1e-15) break;
  }
  return front * fraction;
}

double sorted_quantile(const std::vector<double>& sorted, double q) {
  const double place = std::clamp(q, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const size_t below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

double mean(std::span<const double> values) {
  if (values.empty()) return 0;
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double sample_stddev(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double quantile(std::span<const double> values, double q) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted_quantile(sorted, q);
}

double median(std::span<const double> values) {
  return quantile(values, 0.5);
}

double student_t(double confidence, int degrees) {
  CEPHMARK_CHECK(confidence > 0 && confidence < 1 && degrees >= 1, "student_t out of its domain");
  // P(|T| > t) = I_{n/(n+t^2)}(n/2, 1/2): falls in t, so halving the interval finds it.
  const double n = degrees, outside = 1 - confidence;
  const auto tail = [n](double t) { return incomplete_beta(n / 2, 0.5, n / (n + t * t)); };
  double low = 0, high = 1;
  while (tail(high) > outside && high < 1e15) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-12 * high; ++i) {
    const double middle = low + (high - low) / 2;
    (tail(middle) > outside ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

ConfidenceInterval mean_interval(std::span<const double> values, double confidence) {
  const double middle = mean(values);
  if (values.size() < 2) return {{middle, middle}, false};
  const double half = student_t(confidence, static_cast<int>(values.size()) - 1) *
                      sample_stddev(values) / std::sqrt(static_cast<double>(values.size()));
  return {{middle - half, middle + half}, true};
}

ConfidenceInterval bootstrap_mean_interval(std::span<const double> values, double confidence,
                                           int rounds, uint64_t seed) {
  const double middle = mean(values);
  if (values.size() < 2 || rounds < 1) return {{middle, middle}, false};
  Rng rng(seed);
  std::vector<double> means(static_cast<size_t>(rounds));
  for (double& resampled : means) {
    double sum = 0;
    for (size_t i = 0; i < values.size(); ++i) sum += values[rng.below(values.size())];
    resampled = sum / static_cast<double>(values.size());
  }
  std::sort(means.begin(), means.end());
  const double tail = (1 - confidence) / 2;
  return {{sorted_quantile(means, tail), sorted_quantile(means, 1 - tail)}, true};
}

double jain_fairness(std::span<const double> values) {
  double sum = 0, squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  if (squares == 0) return 1;
  return sum * sum / (static_cast<double>(values.size()) * squares);
}

}  // namespace cephmark
