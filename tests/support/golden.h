// Golden files: tests/golden/NAME holds what was agreed on; UPDATE_GOLDEN=1 in the environment
// renews it (then read the difference before it is committed).
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/fd.h"

namespace cephmark::testing {

inline void expect_golden(const std::string& name, const std::string& actual) {
  const std::string path = std::string(CEPHMARK_SOURCE_DIR) + "/tests/golden/" + name;
  if (std::getenv("UPDATE_GOLDEN")) write_file_atomically(path, actual);
  EXPECT_EQ(read_file(path), actual)
      << "tests/golden/" << name << " differs; UPDATE_GOLDEN=1 renews it";
}

}  // namespace cephmark::testing
