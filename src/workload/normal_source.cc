// Normal offsets: a bell curve over the ranks around the middle (or `center`), its deviation given
// in per cent of the blocks; what falls outside is drawn again. Polar method of Marsaglia.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "workload/scatter.h"

namespace cephmark {
namespace {

class NormalSource final : public OffsetSource {
 public:
  explicit NormalSource(const OffsetSetup& setup)
      : blocks_(static_cast<double>(setup.blocks)),
        // Within the range: else a tiny deviation never leads there.
        middle_(
            std::min(blocks_ * (setup.distribution.center < 0 ? 0.5 : setup.distribution.center),
                     std::nextafter(blocks_, 0.0))),
        deviation_(blocks_ * setup.distribution.parameter / 100),
        rng_(setup.seed),
        order_(setup.blocks, Rng::derive(setup.seed, 1)) {}

  size_t next(std::span<uint64_t> out) noexcept override {
    for (uint64_t& block : out) {
      double place;
      do place = middle_ + deviation_ * deviate();
      while (!(place >= 0 && place < blocks_));
      block = order_(static_cast<uint64_t>(place));
    }
    return out.size();
  }

 private:
  double deviate() noexcept {
    double x, y, square;
    do {
      x = 2 * rng_.uniform() - 1;
      y = 2 * rng_.uniform() - 1;
      square = x * x + y * y;
    } while (square >= 1 || square == 0);
    return x * std::sqrt(-2 * std::log(square) / square);
  }

  double blocks_, middle_, deviation_;
  Rng rng_;
  Permutation order_;
};

}  // namespace

std::unique_ptr<OffsetSource> make_normal_source(const OffsetSetup& setup) {
  const double deviation = setup.distribution.parameter, center = setup.distribution.center;
  if (!(deviation > 0 && deviation <= 100))
    throw UsageError(
        fmt::format("random_distribution=normal:{}: the deviation is in per cent of the region: "
                    "above 0, at most 100",
                    deviation));
  if (center > 1)
    throw UsageError(
        fmt::format("random_distribution=normal:{}:{}: the center is a share of the region: 0 to 1",
                    deviation, center));
  return std::make_unique<NormalSource>(setup);
}

}  // namespace cephmark
