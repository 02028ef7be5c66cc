// checked_block: blocks that tell whether they are what was written and where: all but the last 12
// bytes are anything, then come the CRC-32 of that and the block's offset in its file, as sysbench
// --validate lays them out. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace cephmark {

inline constexpr size_t kCheckBytes = sizeof(uint32_t) + sizeof(uint64_t);

/// Writes checksum and offset behind what stands in the block; it must hold more than kCheckBytes.
void seal_block(std::span<std::byte> block, uint64_t offset) noexcept;

struct BlockCheck {
  bool is_sound = false;
  uint32_t computed = 0, stored = 0;  ///< checksums
  uint64_t offset = 0;                ///< stored
};
BlockCheck check_block(std::span<const std::byte> block, uint64_t offset) noexcept;

}  // namespace cephmark
