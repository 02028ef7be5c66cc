// Time: the clocks everything is measured with. All functions are thread-safe and do not allocate.
#pragma once

#include <time.h>

#include <cstdint>
#include <string>

namespace cephmark {

inline constexpr int64_t kNsPerUs = 1'000;
inline constexpr int64_t kNsPerMs = 1'000'000;
inline constexpr int64_t kNsPerSecond = 1'000'000'000;

/// CLOCK_MONOTONIC in nanoseconds: the time base of every latency, deadline and slot.
inline int64_t monotonic_ns() noexcept {
  timespec ts;
  clock_gettime(CLOCK_MONOTONIC, &ts);
  return ts.tv_sec * kNsPerSecond + ts.tv_nsec;
}

/// CLOCK_REALTIME in nanoseconds since the Unix epoch: only for telling people when something was.
inline int64_t wall_ns() noexcept {
  timespec ts;
  clock_gettime(CLOCK_REALTIME, &ts);
  return ts.tv_sec * kNsPerSecond + ts.tv_nsec;
}

/// "2026-11-30 14:05:09" in local time.
std::string local_time_text(int64_t wall_ns);
/// "2026-11-30T14:05:09.123Z".
std::string utc_time_text(int64_t wall_ns);

}  // namespace cephmark
