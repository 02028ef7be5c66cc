#include "base/crc32.h"

#include <zlib.h>

namespace cephmark {

uint32_t crc32(std::span<const std::byte> bytes) noexcept {
  // A null pointer would ask for the start value.
  if (bytes.empty()) return 0;
  return static_cast<uint32_t>(
      ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace cephmark
