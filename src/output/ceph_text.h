// ceph_text: sizes and errors as Ceph's own tools write them. Pure.
#pragma once

#include <cstdint>
#include <string>

namespace cephmark {

/// "512 B", "4 KiB", "2.4 MiB", "721 KiB": exact multiples whole, else as many decimals (at most
/// two) as seven characters have room for.
std::string ceph_size_text(uint64_t bytes);

/// "(2) No such file or directory"; `error` is positive.
std::string ceph_errno_text(int error);

}  // namespace cephmark
