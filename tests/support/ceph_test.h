// Helpers for the tests with label `ceph` (tests/ceph/CMakeLists.txt sets the environment that they
// read).
#pragma once

#include <unistd.h>

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

}  // namespace cephmark::testing_support
