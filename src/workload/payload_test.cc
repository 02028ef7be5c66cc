#include "workload/payload.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace cephmark {
namespace {

std::vector<std::byte> filled(Payload& payload, size_t bytes) {
  std::vector<std::byte> buffer(bytes, std::byte{0x5A});
  payload.fill(buffer);
  return buffer;
}

/// Bits per byte, 8 for noise.
double entropy(const std::vector<std::byte>& data) {
  std::vector<double> counts(256);
  for (const std::byte byte : data) ++counts[static_cast<size_t>(byte)];
  double bits = 0;
  for (const double count : counts) {
    const double p = count / static_cast<double>(data.size());
    if (p > 0) bits -= p * std::log2(p);
  }
  return bits;
}

/// How many of the 8-byte strings at every offset of `data` stood in it before: what a compressor
/// or a deduplicator could refer back to.
size_t repeats(const std::vector<std::byte>& data) {
  std::set<std::string> seen;
  size_t repeated = 0;
  for (size_t i = 0; i + 8 <= data.size(); ++i)
    repeated += !seen.emplace(reinterpret_cast<const char*>(data.data() + i), 8).second;
  return repeated;
}

// USE-06, RAD-08: many small writes side by side, as they come to lie in one blob of the store.
TEST(Payload, DefaultNeitherCompressesNorDeduplicates) {
  for (const bool refill : {false, true}) {
    JobSpec job;
    job.refill_buffers = refill;
    Payload payload(job, 1);
    std::vector<std::byte> disk;
    for (int i = 0; i < 64; ++i) {
      const auto write = filled(payload, 4096);
      disk.insert(disk.end(), write.begin(), write.end());
    }
    EXPECT_GT(entropy(disk), 7.99);
    EXPECT_EQ(repeats(disk), 0u);
    EXPECT_GT(entropy(filled(payload, 4 << 20)), 7.999);
  }
}

TEST(Payload, ALargeWriteDoesNotRepeatItself) {
  for (const bool refill : {false, true}) {
    JobSpec job;
    job.refill_buffers = refill;
    Payload payload(job, 1);
    const auto write = filled(payload, 1 << 20);
    std::set<std::string> sectors;
    for (size_t i = 0; i < write.size(); i += 512)
      sectors.emplace(reinterpret_cast<const char*>(write.data() + i), 512);
    EXPECT_EQ(sectors.size(), write.size() / 512);
  }
}

TEST(Payload, OddLengthsAreFilledToTheEndAndNotBeyond) {
  for (const bool refill : {false, true})
    for (const size_t bytes : {1u, 7u, 63u, 64u, 65u, 513u, 4099u}) {
      JobSpec job;
      job.refill_buffers = refill;
      Payload payload(job, bytes);
      std::vector<int> changed(bytes);
      std::vector<std::byte> buffer(bytes + 16);
      for (int round = 0; round < 8; ++round) {
        std::fill(buffer.begin(), buffer.end(), std::byte{0});
        payload.fill(std::span(buffer).first(bytes));
        for (size_t i = 0; i < bytes; ++i) changed[i] |= buffer[i] != std::byte{0};
        for (size_t i = bytes; i < buffer.size(); ++i) ASSERT_EQ(buffer[i], std::byte{0});
      }
      for (size_t i = 0; i < bytes; ++i) ASSERT_TRUE(changed[i]) << bytes << " " << i;
    }
}

TEST(Payload, LanesDifferAndSeedsRepeat) {
  JobSpec job;
  Payload a(job, 1), again(job, 1), b(job, 2);
  const auto first = filled(a, 4096);
  EXPECT_EQ(first, filled(again, 4096));
  EXPECT_NE(first, filled(b, 4096));
  EXPECT_NE(first, filled(a, 4096));
  job.scramble_buffers = false;
  Payload constant(job, 1);
  EXPECT_EQ(filled(constant, 4096), filled(constant, 4096));
}

TEST(Payload, CompressiblePartIsZeroInEveryChunk) {
  for (const bool refill : {false, true})
    for (const int percent : {0, 1, 30, 75, 100})
      for (const uint64_t chunk : {512u, 4096u, 1000u}) {
        JobSpec job;
        job.refill_buffers = refill;
        job.buffer_compress_percentage = percent;
        job.buffer_compress_chunk = chunk;
        Payload payload(job, 1);
        const auto data = filled(payload, chunk * 64);
        for (size_t at = 0; at < data.size(); at += chunk) {
          const uint64_t zeros = chunk * percent / 100;
          for (size_t i = chunk - zeros; i < chunk; ++i) ASSERT_EQ(data[at + i], std::byte{0});
          size_t nonzero = 0;
          for (size_t i = 0; i < chunk - zeros; ++i) nonzero += data[at + i] != std::byte{0};
          ASSERT_GE(static_cast<double>(nonzero), 0.95 * static_cast<double>(chunk - zeros) - 1);
        }
      }
}

TEST(Payload, ZeroBuffersAreZero) {
  JobSpec job;
  job.zero_buffers = true;
  Payload payload(job, 1);
  for (const std::byte byte : filled(payload, 4096)) ASSERT_EQ(byte, std::byte{0});
}

}  // namespace
}  // namespace cephmark
