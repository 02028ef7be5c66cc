// BlockSizeSource: how long operations are: bs=, bsrange= or bssplit= of one direction. Draws from
// the caller's Rng; no allocation after construction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/rng.h"
#include "job/job_spec.h"

namespace cephmark {

class BlockSizeSource {
 public:
  BlockSizeSource() = default;
  explicit BlockSizeSource(const BlockSizes& sizes);

  bool is_fixed() const noexcept { return min_bytes_ == max_bytes_; }
  uint64_t min_bytes() const noexcept { return min_bytes_; }
  uint64_t max_bytes() const noexcept { return max_bytes_; }
  /// The largest size that divides all sizes.
  uint64_t unit_bytes() const noexcept { return unit_bytes_; }

  /// A range: uniform over the multiples of its minimum up to the maximum (as fio). A split: by its
  /// percentages.
  uint64_t next(Rng& rng) const noexcept {
    if (is_fixed()) return min_bytes_;
    if (shares_.empty()) return min_bytes_ * (1 + rng.below(steps_));
    const uint64_t drawn = rng.next();
    for (const Share& share : shares_)
      if (drawn <= share.up_to) return share.bytes;
    return shares_.back().bytes;
  }

 private:
  struct Share {
    uint64_t up_to;  ///< of the draw, inclusive
    uint64_t bytes;
  };
  uint64_t min_bytes_ = 4096, max_bytes_ = 4096, unit_bytes_ = 4096;
  uint64_t steps_ = 1;
  std::vector<Share> shares_;  ///< empty unless a split
};

}  // namespace cephmark
