// Helpers for the tests with label `ceph` (tests/ceph/CMakeLists.txt sets the environment that they
// read).
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/subprocess.h"
#include "base/time.h"
#include "support/temporary_directory.h"

namespace cephmark::testing_support {

inline std::string required_variable(const char* name) {
  const char* value = std::getenv(name);
  if (!value) throw Error(std::string(name) + " is not set: run this through ctest -L ceph");
  return value;
}

/// The shared lab's ceph.conf.
inline std::string lab_conf() {
  return required_variable("CEPH_CONF");
}

/// Runs the program under test.
inline CommandResult cephmark(std::vector<std::string> args, CommandOptions options = {}) {
  args.insert(args.begin(), required_variable("CEPHMARK"));
  if (options.timeout_ns == CommandOptions{}.timeout_ns) options.timeout_ns = 300 * kNsPerSecond;
  return run_command(args, options);
}

/// True once `condition` holds; false after `timeout_ns`. For conditions that take a while, on
/// however slow a machine.
inline bool eventually(const std::function<bool()>& condition,
                       int64_t timeout_ns = 120 * kNsPerSecond) {
  for (const int64_t end_ns = monotonic_ns() + timeout_ns; monotonic_ns() < end_ns;
       ::usleep(50'000))
    if (condition()) return true;
  return condition();
}

/// What a program of Ceph's said itself: its libraries log to the same stream now and then
/// ("2026-11-30T23:09:34.195+0000 7f16 -1 monclient: ..."), ahead of it or at the end.
inline std::string without_log_lines(const std::string& err) {
  std::string own;
  bool after_log = false;
  for (size_t from = 0; from < err.size();) {
    const size_t end = std::min(err.find('\n', from), err.size() - 1) + 1;
    const std::string line = err.substr(from, end - from);
    from = end;
    const bool is_log = line.size() > 20 && line[4] == '-' && line[7] == '-' && line[10] == 'T' &&
                        line[13] == ':' && line.find_first_not_of("0123456789") == 4;
    if (!is_log && !(after_log && line == "\n")) own += line;
    after_log = is_log;
  }
  return own;
}

}  // namespace cephmark::testing_support
