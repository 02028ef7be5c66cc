// Permutation: a keyed shuffling of [0, size) that is worked out, not stored: 56 bytes for any
// size. Why: docs/decisions/0002-random-map.md. A value; any thread.
//
// Multiplying by an odd number and xoring with a right shift are both reversible on k-bit words, so
// a few rounds of them permute [0, 2^k), 2^k being the power of two at or above size; what falls
// outside size is left out or walked on from.
#pragma once

#include <cstdint>

#include "base/rng.h"

namespace cephmark {

class Permutation {
 public:
  Permutation() = default;
  Permutation(uint64_t size, uint64_t key) noexcept : size_(size) {
    const int bits = size <= 2 ? 1 : 64 - __builtin_clzll(size - 1);
    mask_ = bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
    shift_ = static_cast<uint8_t>((bits + 1) / 2);
    Rng rng(key);
    add_ = rng.next();
    for (uint64_t& factor : factors_) factor = rng.next() | 1;
  }

  uint64_t size() const noexcept { return size_; }
  /// The power of two that raw() permutes.
  uint64_t domain_last() const noexcept { return mask_; }

  /// A permutation of [0, domain_last()].
  uint64_t raw(uint64_t x) const noexcept {
    x = (x + add_) & mask_;
    for (const uint64_t factor : factors_) {
      x = (x * factor) & mask_;
      x ^= x >> shift_;
    }
    return x;
  }

  /// The permutation of [0, size()): follows raw() until it falls inside, at most two steps on
  /// average.
  uint64_t operator()(uint64_t x) const noexcept {
    do x = raw(x);
    while (x >= size_);
    return x;
  }

 private:
  uint64_t size_ = 0;
  uint64_t mask_ = 0;
  uint64_t add_ = 0;
  uint64_t factors_[3] = {1, 1, 1};
  uint8_t shift_ = 1;
};

}  // namespace cephmark
