// Rng: xoshiro256** (Blackman and Vigna), seeded through splitmix64. One per lane; not thread-safe;
// no allocation.
#pragma once

#include <array>
#include <cstdint>

namespace cephmark {

class Rng {
 public:
  explicit Rng(uint64_t seed) noexcept {
    for (auto& word : state_) word = splitmix(seed);
  }

  uint64_t next() noexcept {
    const uint64_t result = rotl(state_[1] * 5, 7) * 9;
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotl(state_[3], 45);
    return result;
  }

  /// Uniform in [0, bound), bound > 0; multiply-shift, bias below bound / 2^64.
  uint64_t below(uint64_t bound) noexcept {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }

  /// Uniform in [0, 1).
  double uniform() noexcept { return (next() >> 11) * 0x1.0p-53; }

  /// A seed for an independent stream: mixes a parent seed with an index.
  static uint64_t derive(uint64_t seed, uint64_t index) noexcept {
    uint64_t mixed = seed ^ (index * 0xD1B54A32D192ED03ull);
    splitmix(mixed);
    return splitmix(mixed);
  }

 private:
  static uint64_t rotl(uint64_t x, int k) noexcept { return (x << k) | (x >> (64 - k)); }
  static uint64_t splitmix(uint64_t& x) noexcept {
    uint64_t z = (x += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }

  std::array<uint64_t, 4> state_;
};

/// A seed that no run had before, from the machine's own source of chance.
uint64_t fresh_seed();

}  // namespace cephmark
