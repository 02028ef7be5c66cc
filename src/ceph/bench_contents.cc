#include "ceph/bench_contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "base/rng.h"
#include "ceph/rados_bench_objects.h"

namespace cephmark {
namespace {

constexpr size_t kBlockBytes = 4096;

/// The random bytes of an op, block after block.
class RandomBlocks {
 public:
  RandomBlocks(uint64_t seed, uint64_t op) noexcept : rng_(Rng::derive(seed, op)) {}
  void next(std::span<std::byte> block) noexcept {
    for (size_t at = 0; at < block.size(); at += sizeof(uint64_t)) {
      const uint64_t word = rng_.next();
      std::memcpy(&block[at], &word, std::min(sizeof word, block.size() - at));
    }
  }

 private:
  Rng rng_;
};

}  // namespace

std::string_view bench_contents_name(BenchContents contents) {
  return contents == BenchContents::kRandom ? "random" : "z";
}

BenchContents parse_bench_contents(std::string_view text) {
  if (text.empty() || text == "z") return BenchContents::kOriginal;
  if (text == "random") return BenchContents::kRandom;
  throw Error(fmt::format("there are no contents of the name '{}'", text), "z or random");
}

uint64_t bench_seed(std::string_view prefix) {
  uint64_t hash = 0xcbf29ce484222325ull;  // FNV-1a
  for (const char c : prefix) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3ull;
  return hash;
}

void fill_random_op(std::span<std::byte> buffer, uint64_t seed, uint64_t op) noexcept {
  RandomBlocks blocks(seed, op);
  for (size_t at = 0; at < buffer.size(); at += kBlockBytes)
    blocks.next(buffer.subspan(at, std::min(kBlockBytes, buffer.size() - at)));
  stamp_bench_op(buffer, op);
}

bool is_random_op(std::span<const std::byte> buffer, uint64_t seed, uint64_t op) noexcept {
  RandomBlocks blocks(seed, op);
  std::array<std::byte, kBlockBytes> expected;
  for (size_t at = 0; at < buffer.size(); at += kBlockBytes) {
    const size_t bytes = std::min(kBlockBytes, buffer.size() - at);
    blocks.next({expected.data(), bytes});
    if (at == 0) stamp_bench_op({expected.data(), bytes}, op);
    if (std::memcmp(&buffer[at], expected.data(), bytes) != 0) return false;
  }
  return true;
}

}  // namespace cephmark
