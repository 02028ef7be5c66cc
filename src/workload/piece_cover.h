// PieceCover: random pieces of varying size that cover a region exactly once, without a map in
// memory: what fio's random map does for bsrange and bssplit. One per lane (or direction); no
// allocation after construction.
//
// The region is cut into stretches of eight of the largest blocks; each stretch is cut into pieces
// by a generator that is seeded with the stretch's number, so that its cutting need not be kept.
// Round r takes from every stretch, in a new shuffled order, the r-th of its pieces (these shuffled
// too). The last piece of a stretch is shortened to fit.
#pragma once

#include <cstdint>

#include "workload/block_size_source.h"
#include "workload/permutation.h"

namespace cephmark {

class PieceCover {
 public:
  /// Lengths and positions are multiples of sizes.unit_bytes(); an odd end of the region is left
  /// out.
  PieceCover(uint64_t length_bytes, const BlockSizeSource& sizes, uint64_t seed);

  struct Piece {
    uint64_t offset = 0;  ///< bytes
    uint64_t length = 0;  ///< bytes
  };
  /// The next piece; false when the region is covered (begin_pass() starts it anew).
  bool next(Piece& piece) noexcept;
  void begin_pass(uint64_t pass) noexcept;

 private:
  bool find(uint64_t stretch, Piece& piece) const noexcept;
  void begin_round() noexcept;

  uint64_t length_;  ///< bytes, whole units
  uint64_t stretch_bytes_;
  uint64_t stretches_;
  BlockSizeSource sizes_;
  uint64_t seed_;
  uint64_t pass_seed_ = 0;
  uint64_t round_ = 0, position_ = 0;
  bool found_in_round_ = false, done_ = false;
  Permutation order_;
};

}  // namespace cephmark
