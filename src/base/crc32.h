// crc32: the checksum of zip and Ethernet (polynomial 0xedb88320, reflected), by zlib. Pure; any
// thread.
#pragma once

#include <cstdint>
#include <span>

namespace cephmark {

uint32_t crc32(std::span<const std::byte> bytes) noexcept;

}  // namespace cephmark
