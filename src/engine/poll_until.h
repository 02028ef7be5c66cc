// poll_until: waits for one descriptor until a monotonic instant. Thread-safe.
#pragma once

#include <poll.h>
#include <time.h>

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace cephmark {

inline timespec timespec_of(int64_t ns) noexcept {
  return {.tv_sec = ns / kNsPerSecond, .tv_nsec = ns % kNsPerSecond};
}

/// What is left until `deadline_ns`, at least 0.
inline timespec left_until(int64_t deadline_ns) noexcept {
  return timespec_of(std::max<int64_t>(0, deadline_ns - monotonic_ns()));
}

/// Returns when `fd` is readable, at the deadline, or at a signal.
inline void poll_until(int fd, int64_t deadline_ns) noexcept {
  pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
  const timespec left = left_until(deadline_ns);
  ppoll(&entry, 1, &left, nullptr);
}

}  // namespace cephmark
