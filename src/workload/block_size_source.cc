#include "workload/block_size_source.h"

#include <cmath>
#include <numeric>

namespace cephmark {

BlockSizeSource::BlockSizeSource(const BlockSizes& sizes) {
  if (sizes.splits.empty()) {
    steps_ = std::max<uint64_t>(1, sizes.max_bytes / sizes.min_bytes);
    min_bytes_ = unit_bytes_ = sizes.min_bytes;
    max_bytes_ = min_bytes_ * steps_;
    return;
  }
  double total = 0, sum = 0;
  for (const auto& split : sizes.splits) total += split.percent;
  min_bytes_ = UINT64_MAX;
  max_bytes_ = unit_bytes_ = 0;
  for (const auto& split : sizes.splits) {
    if (split.percent <= 0) continue;
    sum += split.percent;
    const double share = std::ldexp(sum / total, 64);
    shares_.push_back(
        {share >= 0x1.fffffffffffffp63 ? UINT64_MAX : static_cast<uint64_t>(share), split.bytes});
    min_bytes_ = std::min(min_bytes_, split.bytes);
    max_bytes_ = std::max(max_bytes_, split.bytes);
    unit_bytes_ = std::gcd(unit_bytes_, split.bytes);
  }
}

}  // namespace cephmark
