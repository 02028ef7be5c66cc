// Scatter: rank of popularity -> block. Hot blocks lie all over the region, as fio hashes them
// (fio.md 6.8); a shuffling rather than a hash, so that no two ranks fall on one block. A value.
#pragma once

#include "workload/offset_source.h"
#include "workload/permutation.h"

namespace cephmark {

class Scatter {
 public:
  explicit Scatter(const OffsetSetup& setup) noexcept
      : order_(setup.blocks, Rng::derive(setup.seed, 1)) {
    const double center = setup.distribution.center;
    if (center > 0)
      shift_ = static_cast<uint64_t>(center * static_cast<double>(setup.blocks)) % setup.blocks;
  }

  uint64_t operator()(uint64_t rank) const noexcept {
    const uint64_t block = order_(rank) + shift_;
    return block < order_.size() ? block : block - order_.size();
  }

 private:
  Permutation order_;
  uint64_t shift_ = 0;
};

}  // namespace cephmark
