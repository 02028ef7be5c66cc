// Pareto offsets: rank (blocks - 1) * u^(log h / log(1 - h)), u uniform: a share h of the blocks
// gets 1 - h of the accesses (h = 0.2: 20 % get 80 %). fio's rule.
#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "workload/scatter.h"

namespace cephmark {
namespace {

class ParetoSource final : public OffsetSource {
 public:
  explicit ParetoSource(const OffsetSetup& setup)
      : last_(static_cast<double>(setup.blocks - 1)),
        power_(std::log(setup.distribution.parameter) / std::log1p(-setup.distribution.parameter)),
        rng_(setup.seed),
        scatter_(setup) {}

  size_t next(std::span<uint64_t> out) noexcept override {
    for (uint64_t& block : out)
      block = scatter_(static_cast<uint64_t>(last_ * std::pow(rng_.uniform(), power_)));
    return out.size();
  }

 private:
  double last_, power_;
  Rng rng_;
  Scatter scatter_;
};

}  // namespace

std::unique_ptr<OffsetSource> make_pareto_source(const OffsetSetup& setup) {
  const double h = setup.distribution.parameter;
  if (!(h > 0 && h < 1))
    throw UsageError(fmt::format("random_distribution=pareto:{}: h must be between 0 and 1", h),
                     "0.2 means: 20 % of the blocks get 80 % of the accesses");
  return std::make_unique<ParetoSource>(setup);
}

}  // namespace cephmark
