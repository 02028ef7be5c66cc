// TemporaryDirectory: a directory of a test's own, removed with what is in it at the end. As the
// first member of a fixture it outlives what uses it.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "base/error.h"

namespace cephmark::testing_support {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = std::filesystem::temp_directory_path() / "cephmark-test-XXXXXX";
    if (!::mkdtemp(pattern.data())) throw Error("cannot make a temporary directory");
    path_ = pattern;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace cephmark::testing_support
