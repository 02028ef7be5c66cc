// Zipf offsets: rank k (1 ...) with a probability proportional to k^-theta, drawn by
// rejection-inversion (Hoermann and Derflinger, "Rejection-inversion to generate variates from
// monotone discrete distributions", 1996): exact for any number of blocks, no table, about one try
// per draw. theta = 1 works too (fio refuses it: the job language's matter).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "workload/scatter.h"

namespace cephmark {
namespace {

class ZipfSource final : public OffsetSource {
 public:
  explicit ZipfSource(const OffsetSetup& setup)
      : theta_(setup.distribution.parameter),
        blocks_(static_cast<double>(setup.blocks)),
        rng_(setup.seed),
        scatter_(setup) {
    from_ = area(1.5) - 1;
    to_ = area(blocks_ + 0.5);
    accept_ = 2 - inverse_area(area(2.5) - density(2));
  }

  size_t next(std::span<uint64_t> out) noexcept override {
    for (uint64_t& block : out) block = scatter_(rank() - 1);
    return out.size();
  }

 private:
  // The density x^-theta, the area under it from 1, and the inverse of that; expm1 and log1p keep
  // them exact around theta = 1, where the area becomes a logarithm.
  double density(double x) const noexcept { return std::exp(-theta_ * std::log(x)); }
  double area(double x) const noexcept {
    const double log_x = std::log(x), y = (1 - theta_) * log_x;
    return log_x * (std::abs(y) > 1e-8 ? std::expm1(y) / y : 1 + y / 2);
  }
  double inverse_area(double a) const noexcept {
    const double y = std::max(a * (1 - theta_), -1.0);
    return std::exp(a * (std::abs(y) > 1e-8 ? std::log1p(y) / y : 1 - y / 2));
  }

  uint64_t rank() noexcept {
    for (;;) {
      const double drawn = to_ + rng_.uniform() * (from_ - to_);
      const double x = inverse_area(drawn);
      const double k = std::clamp(std::floor(x + 0.5), 1.0, blocks_);
      if (k - x <= accept_ || drawn >= area(k + 0.5) - density(k)) return static_cast<uint64_t>(k);
    }
  }

  double theta_, blocks_, from_ = 0, to_ = 0, accept_ = 0;
  Rng rng_;
  Scatter scatter_;
};

}  // namespace

std::unique_ptr<OffsetSource> make_zipf_source(const OffsetSetup& setup) {
  const double theta = setup.distribution.parameter;
  if (!(theta > 0) || theta > 100)
    throw UsageError(
        fmt::format("random_distribution=zipf:{}: theta must be above 0 (and at most 100)", theta),
        "1.1 is fio's default; common values are 0.9 to 1.4");
  return std::make_unique<ZipfSource>(setup);
}

}  // namespace cephmark
