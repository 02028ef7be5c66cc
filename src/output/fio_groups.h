// fio_groups: what fio adds up over the jobs of one reporting group, from the "jobs" of its JSON.
// Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "base/json.h"

namespace cephmark {

inline constexpr std::array<const char*, 4> kFioDirections = {"read", "write", "trim", "mixed"};

/// One direction of one group. All 0 where nothing ran.
struct FioGroupDirection {
  uint64_t bytes = 0;
  uint64_t least_bytes_per_s = 0, most_bytes_per_s = 0;  ///< of its jobs
  uint64_t shortest_ms = 0, longest_ms = 0;

  /// The group's rate: everything by the longest run time, in whole bytes as fio computes it.
  uint64_t bytes_per_s() const { return longest_ms == 0 ? 0 : bytes * 1000 / longest_ms; }
};

/// By group id; directions as in kFioDirections.
std::map<int64_t, std::array<FioGroupDirection, 4>> fio_groups(const Json& jobs);

}  // namespace cephmark
