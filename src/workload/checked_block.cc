#include "workload/checked_block.h"

#include <cstring>

#include "base/crc32.h"

namespace cephmark {

void seal_block(std::span<std::byte> block, uint64_t offset) noexcept {
  if (block.size() <= kCheckBytes) return;
  const size_t data = block.size() - kCheckBytes;
  const uint32_t checksum = crc32(block.first(data));
  std::memcpy(block.data() + data, &checksum, sizeof checksum);
  std::memcpy(block.data() + data + sizeof checksum, &offset, sizeof offset);
}

BlockCheck check_block(std::span<const std::byte> block, uint64_t offset) noexcept {
  BlockCheck check;
  if (block.size() <= kCheckBytes) return check;
  const size_t data = block.size() - kCheckBytes;
  check.computed = crc32(block.first(data));
  std::memcpy(&check.stored, block.data() + data, sizeof check.stored);
  std::memcpy(&check.offset, block.data() + data + sizeof check.stored, sizeof check.offset);
  check.is_sound = check.computed == check.stored && check.offset == offset;
  return check;
}

}  // namespace cephmark
