// Op: the kinds of I/O. Plain data.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace cephmark {

enum class Op : uint8_t { kRead = 0, kWrite = 1, kTrim = 2, kFlush = 3, kWriteZeroes = 4 };
inline constexpr int kOpCount = 5;
/// read, write, trim: the kinds that fio calls data directions; option triples are indexed by them.
inline constexpr int kDirectionCount = 3;

inline constexpr std::array<std::string_view, kOpCount> kOpNames = {"read", "write", "trim",
                                                                    "flush", "write_zeroes"};
inline constexpr std::string_view op_name(Op op) {
  return kOpNames[static_cast<int>(op)];
}
inline constexpr int op_index(Op op) {
  return static_cast<int>(op);
}

}  // namespace cephmark
