#include "workload/payload.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "workload/checked_block.h"

namespace cephmark {
namespace {

/// Larger than what the compressors of BlueStore look back over in one blob, smaller than a core's
/// second-level cache.
constexpr size_t kPoolBytes = 256 << 10;
constexpr size_t kPoolWords = kPoolBytes / sizeof(uint64_t);

const std::array<uint64_t, kPoolWords>& pool() {
  static const auto words = [] {
    std::array<uint64_t, kPoolWords> filled;
    Rng rng(0x6365706861726Bull);
    for (uint64_t& word : filled) word = rng.next();
    return filled;
  }();
  return words;
}

/// Eight xorshift128+ generators side by side: the compiler makes vectors of them.
class WideRng {
 public:
  static constexpr size_t kLanes = 8;
  explicit WideRng(Rng& seeds) noexcept {
    for (size_t i = 0; i < kLanes; ++i) {
      a_[i] = seeds.next();
      b_[i] = seeds.next() | 1;
    }
  }
  void next(uint64_t* out) noexcept {
    for (size_t i = 0; i < kLanes; ++i) {
      uint64_t x = a_[i];
      const uint64_t y = b_[i];
      out[i] = x + y;
      a_[i] = y;
      x ^= x << 23;
      b_[i] = x ^ y ^ (x >> 18) ^ (y >> 5);
    }
  }

 private:
  uint64_t a_[kLanes], b_[kLanes];
};

void fill_fresh(Rng& seeds, std::byte* out, size_t bytes) noexcept {
  WideRng wide(seeds);
  uint64_t words[WideRng::kLanes];
  for (; bytes >= sizeof words; out += sizeof words, bytes -= sizeof words) {
    wide.next(words);
    std::memcpy(out, words, sizeof words);
  }
  wide.next(words);
  std::memcpy(out, words, bytes);
}

/// out = pool from `start` on, xored with `key`.
void fill_keyed(uint64_t key, size_t start, std::byte* out, size_t bytes) noexcept {
  const uint64_t* const from = pool().data() + start;
  const size_t words = bytes / sizeof(uint64_t);
  for (size_t i = 0; i < words; ++i) {
    const uint64_t word = from[i] ^ key;
    std::memcpy(out + i * sizeof word, &word, sizeof word);
  }
  if (const size_t rest = bytes % sizeof(uint64_t)) {
    const uint64_t word = ~key;
    std::memcpy(out + words * sizeof word, &word, rest);
  }
}

}  // namespace

Payload::Payload(const JobSpec& job, uint64_t seed)
    : kind_(job.checked_blocks                       ? Kind::kChecked
            : job.zero_buffers || job.fill_byte >= 0 ? Kind::kByte
            : job.refill_buffers                     ? Kind::kFresh
            : job.scramble_buffers                   ? Kind::kKeyed
                                                     : Kind::kConstant),
      byte_(std::max(0, job.fill_byte)),
      rng_(seed) {
  pool();  // made here, not in the hot loop
  if (job.buffer_compress_percentage <= 0) return;
  chunk_bytes_ = std::max<uint64_t>(1, job.buffer_compress_chunk);
  const auto percent = static_cast<uint64_t>(std::min(job.buffer_compress_percentage, 100));
  random_bytes_ = chunk_bytes_ - chunk_bytes_ * percent / 100;
}

void Payload::fill(std::span<std::byte> buffer, uint64_t offset) noexcept {
  if (kind_ == Kind::kChecked) {
    fill_random(buffer);
    seal_block(buffer, offset);
    return;
  }
  if (kind_ == Kind::kByte) {
    std::memset(buffer.data(), byte_, buffer.size());
    return;
  }
  fill_random(buffer);
  if (chunk_bytes_ == 0) return;
  for (size_t at = 0; at < buffer.size(); at += chunk_bytes_) {
    const size_t chunk = std::min<size_t>(chunk_bytes_, buffer.size() - at);
    // A chunk cut off at the end keeps the share.
    const size_t random =
        chunk == chunk_bytes_ ? random_bytes_ : chunk * random_bytes_ / chunk_bytes_;
    std::memset(buffer.data() + at + random, 0, chunk - random);
  }
}

void Payload::fill_random(std::span<std::byte> buffer) noexcept {
  if (kind_ == Kind::kFresh) return fill_fresh(rng_, buffer.data(), buffer.size());
  const bool keyed = kind_ != Kind::kConstant;
  size_t start = keyed ? rng_.below(kPoolWords) : 0;
  std::byte* out = buffer.data();
  for (size_t left = buffer.size(); left > 0;) {
    const size_t bytes = std::min(left, (kPoolWords - start) * sizeof(uint64_t));
    fill_keyed(keyed ? rng_.next() : 0, start, out, bytes);
    out += bytes;
    left -= bytes;
    start = 0;  // around, with another key
  }
}

}  // namespace cephmark
