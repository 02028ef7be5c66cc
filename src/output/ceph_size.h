// ceph_size: sizes as Ceph's own tools write them. Pure.
#pragma once

#include <cstdint>
#include <string>

namespace cephmark {

/// "512 B", "4 KiB", "2.4 MiB", "721 KiB": exact multiples whole, else as many decimals (at most
/// two) as seven characters have room for.
std::string ceph_size_text(uint64_t bytes);

}  // namespace cephmark
