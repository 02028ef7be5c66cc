#include "workload/piece_cover.h"

#include <algorithm>

namespace cephmark {

PieceCover::PieceCover(uint64_t length_bytes, const BlockSizeSource& sizes, uint64_t seed)
    : length_(length_bytes - length_bytes % sizes.unit_bytes()),
      stretch_bytes_(8 * sizes.max_bytes()),
      stretches_((length_ + stretch_bytes_ - 1) / stretch_bytes_),
      sizes_(sizes),
      seed_(seed) {
  begin_pass(0);
}

void PieceCover::begin_pass(uint64_t pass) noexcept {
  pass_seed_ = Rng::derive(seed_, pass);
  round_ = 0;
  done_ = stretches_ == 0;
  begin_round();
}

void PieceCover::begin_round() noexcept {
  position_ = 0;
  found_in_round_ = false;
  order_ = Permutation(stretches_, Rng::derive(pass_seed_, ~round_));
}

bool PieceCover::next(Piece& piece) noexcept {
  while (!done_) {
    while (position_ < stretches_)
      if (find(order_(position_++), piece)) {
        found_in_round_ = true;
        return true;
      }
    // A stretch that had no r-th piece has none later: a round without any piece is the last.
    done_ = !found_in_round_;
    ++round_;
    begin_round();
  }
  return false;
}

bool PieceCover::find(uint64_t stretch, Piece& piece) const noexcept {
  const uint64_t start = stretch * stretch_bytes_;
  const uint64_t length = std::min(stretch_bytes_, length_ - start);
  const uint64_t seed = Rng::derive(pass_seed_, stretch);
  Rng count_rng(seed);
  uint64_t pieces = 0;
  for (uint64_t end = 0; end < length; ++pieces) end += sizes_.next(count_rng);
  if (round_ >= pieces) return false;
  const uint64_t wanted = Permutation(pieces, ~seed)(round_);
  Rng rng(seed);
  uint64_t at = 0;
  for (uint64_t i = 0; i < wanted; ++i) at += sizes_.next(rng);
  piece = {start + at, std::min(sizes_.next(rng), length - at)};
  return true;
}

}  // namespace cephmark
