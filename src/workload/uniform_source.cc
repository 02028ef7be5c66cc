// Uniform offsets: covering (fio's random map: every block once per pass) and independent
// (norandommap).
#include <algorithm>

#include "base/rng.h"
#include "workload/offset_source.h"
#include "workload/permutation.h"

namespace cephmark {
namespace {

class CoveringSource final : public OffsetSource {
 public:
  explicit CoveringSource(const OffsetSetup& setup) : blocks_(setup.blocks), seed_(setup.seed) {
    begin_pass(0);
  }

  void begin_pass(uint64_t pass) noexcept override {
    order_ = Permutation(blocks_, Rng::derive(seed_, pass));
    position_ = 0;
  }

  size_t next(std::span<uint64_t> out) noexcept override {
    // Counts through the power of two above and leaves out what falls outside; each result is
    // stored and kept only if the count moves on, so that no branch depends on a random number.
    const Permutation order = order_;
    size_t filled = 0;
    while (filled < out.size() && position_ <= order.domain_last()) {
      const uint64_t end = std::min(order.domain_last() - position_ + 1,
                                    static_cast<uint64_t>(out.size() - filled)) +
                           position_;
      for (uint64_t x = position_; x < end; ++x) {
        const uint64_t block = order.raw(x);
        out[filled] = block;
        filled += block < blocks_;
      }
      position_ = end;
    }
    return filled;
  }

 private:
  uint64_t blocks_;
  uint64_t seed_;
  Permutation order_;
  uint64_t position_ = 0;
};

class UniformSource final : public OffsetSource {
 public:
  explicit UniformSource(const OffsetSetup& setup) : blocks_(setup.blocks), rng_(setup.seed) {}

  size_t next(std::span<uint64_t> out) noexcept override {
    Rng rng = rng_;  // a copy stays in registers
    for (uint64_t& block : out) block = rng.below(blocks_);
    rng_ = rng;
    return out.size();
  }

 private:
  uint64_t blocks_;
  Rng rng_;
};

}  // namespace

std::unique_ptr<OffsetSource> make_covering_source(const OffsetSetup& setup) {
  return std::make_unique<CoveringSource>(setup);
}

std::unique_ptr<OffsetSource> make_uniform_source(const OffsetSetup& setup) {
  return std::make_unique<UniformSource>(setup);
}

}  // namespace cephmark
