#include "base/crc32.h"

#include <array>
#include <cstring>

namespace cephmark {
namespace {

constexpr uint32_t kPolynomial = 0xedb88320;
constexpr size_t kSlices = 8;
using Tables = std::array<std::array<uint32_t, 256>, kSlices>;

/// Table k is the effect of a byte that k more bytes follow: eight bytes go in at a time.
constexpr Tables make_tables() {
  Tables tables{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = value & 1 ? kPolynomial ^ (value >> 1) : value >> 1;
    tables[0][i] = value;
  }
  for (size_t k = 1; k < kSlices; ++k)
    for (uint32_t i = 0; i < 256; ++i)
      tables[k][i] = tables[0][tables[k - 1][i] & 0xff] ^ (tables[k - 1][i] >> 8);
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

uint32_t crc32(std::span<const std::byte> bytes) noexcept {
  uint32_t crc = ~uint32_t{0};
  while (bytes.size() >= kSlices) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    word ^= crc;
    crc = 0;
    for (size_t k = 0; k < kSlices; ++k) crc ^= kTables[kSlices - 1 - k][(word >> (8 * k)) & 0xff];
    bytes = bytes.subspan(kSlices);
  }
  for (const std::byte byte : bytes)
    crc = kTables[0][(crc ^ static_cast<uint32_t>(byte)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

}  // namespace cephmark
