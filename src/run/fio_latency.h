// FioLatency: fio's latency statistics turned into our Histogram. Pure functions.
// A bin of json+ is named by the middle of its bucket; fio's buckets are ours up to 2^34 ns, so
// bins are read back exactly, and min, max, mean and stddev with them. Without bins a histogram is
// rebuilt from the percentile list.
#pragma once

#include "base/json.h"
#include "stats/histogram.h"

namespace cephmark {

struct FioLatency {
  Histogram histogram;
  bool exact = true;          ///< false: rebuilt from percentiles, or from less
  bool beyond_range = false;  ///< fio's histogram ends at 17.2 s, and something was slower
};

/// `latency` is a "clat_ns" or the like of fio 3 JSON. `shape`, when not null, is another latency
/// of the same I/Os (clat_ns) whose bins or percentiles stand in when `latency` has none of its
/// own: moved by the difference of the means, never exact. Empty for N 0. Throws Error (`what`
/// names the place) when a value is malformed.
FioLatency fio_latency(const Json& latency, const Json* shape, const std::string& what);

}  // namespace cephmark
