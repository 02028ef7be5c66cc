// run_osd_benchmark: the benchmark inside each of some OSDs, one OSD at a time, repeated, beside
// what mClock was told. Called by the main thread. docs/osd-bench.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/ceph_options.h"

namespace cephmark {

struct OsdBenchmarkOptions {
  CephOptions ceph;
  std::string target = "all";   ///< "osd.3", "3", "all", "osd.*"
  std::vector<uint64_t> shape;  ///< TOTAL BLOCK OBJECT NUM, bytes; empty: both figures of ours
  int repeat = 3;
  bool compat = false;  ///< what `ceph tell` prints, and nothing else
  bool quiet = false;
  std::string output = "text";  ///< or "json"; with ":FILE"
};

/// The exit code. Throws Error.
int run_osd_benchmark(const OsdBenchmarkOptions& options);

}  // namespace cephmark
