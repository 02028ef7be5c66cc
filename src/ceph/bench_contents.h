// bench_contents: what is in op i of a write run: the original's bytes, or on request bytes that do
// not compress, which only we can check. Pure; any thread; no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace cephmark {

enum class BenchContents : uint8_t {
  kOriginal,  ///< the stamp and 'z'
  kRandom,    ///< the stamp and random bytes, which follow from the names' prefix and the op
};

std::string_view bench_contents_name(BenchContents contents);
/// "" is the original's. Throws Error for a word that is none.
BenchContents parse_bench_contents(std::string_view text);

/// The seed of a run's random bytes: whoever knows the prefix of its objects can check them.
uint64_t bench_seed(std::string_view prefix);

/// All of the op's bytes. `buffer` begins at a multiple of 8.
void fill_random_op(std::span<std::byte> buffer, uint64_t seed, uint64_t op) noexcept;
bool is_random_op(std::span<const std::byte> buffer, uint64_t seed, uint64_t op) noexcept;

}  // namespace cephmark
