#include "ceph/bench_contents.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "ceph/rados_bench_objects.h"

namespace cephmark {
namespace {

using Bytes = std::vector<std::byte>;

Bytes random_op(size_t bytes, uint64_t seed, uint64_t op) {
  Bytes buffer(bytes);
  fill_random_op(buffer, seed, op);
  return buffer;
}

TEST(BenchContents, RandomBytesFollowFromSeedAndOp) {
  const uint64_t seed = bench_seed("benchmark_data_vm_1");
  for (const size_t bytes : {1, 16, 31, 32, 33, 4096, 4099, 70'000}) {
    Bytes buffer = random_op(bytes, seed, 7);
    EXPECT_TRUE(is_random_op(buffer, seed, 7)) << bytes;
    if (bytes < kBenchStampBytes) continue;  // too short for the op's number
    EXPECT_FALSE(is_random_op(buffer, seed, 8)) << bytes;
    if (bytes == kBenchStampBytes) continue;  // nothing behind it
    buffer.back() ^= std::byte{1};
    EXPECT_FALSE(is_random_op(buffer, seed, 7)) << bytes;
  }
  EXPECT_FALSE(is_random_op(random_op(4096, seed, 7), bench_seed("benchmark_data_vm_2"), 7));
}

TEST(BenchContents, TheStampIsTheOriginals) {
  const Bytes buffer = random_op(4096, 1, 12);
  EXPECT_STREQ(reinterpret_cast<const char*>(buffer.data()), "I'm the               12th op!");
  EXPECT_FALSE(is_bench_op(buffer, 12));
}

// RAD-08: what a compressor looks for: strings that stood there before.
TEST(BenchContents, RandomBytesDoNotRepeat) {
  const Bytes first = random_op(64 << 10, 3, 0), second = random_op(64 << 10, 3, 1);
  std::set<std::string> seen;
  for (const Bytes& bytes : {first, second})
    for (size_t at = kBenchStampBytes; at + 8 <= bytes.size(); at += 8)
      EXPECT_TRUE(seen.emplace(reinterpret_cast<const char*>(&bytes[at]), 8).second) << at;
}

TEST(BenchContents, Names) {
  EXPECT_EQ(parse_bench_contents(""), BenchContents::kOriginal);
  for (const auto contents : {BenchContents::kOriginal, BenchContents::kRandom})
    EXPECT_EQ(parse_bench_contents(bench_contents_name(contents)), contents);
  EXPECT_THROW(parse_bench_contents("ones"), Error);
}

}  // namespace
}  // namespace cephmark
