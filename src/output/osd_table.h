// osd_table: OSDs beside each other, as people and programs read them. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace cephmark {

/// Several measurements of one thing, in the order they were taken.
using Repetitions = std::vector<double>;

struct OsdBenchRow {
  int id = 0;
  std::string host, device_class;
  Repetitions bytes_per_s;  ///< of the throughput shape; empty: not measured
  Repetitions iops;         ///< of the small-block shape; empty: not measured
  std::string scheduler;
  std::string capacity_option;  ///< osd_mclock_max_capacity_iops_...
  double capacity_iops = 0;     ///< 0: not known
  std::string failure;          ///< why there is no figure; empty: there is one
};

inline constexpr double kFarFromMedian = 0.2;

/// How a value stands among those of its kind: far from the median of its peers (by more than `far`
/// of it, and by three times the usual distance from it) it is an outlier.
struct Standing {
  double ratio = 1;  ///< to the median of the peers, itself included
  bool outlier = false;
};
/// Of fewer than three nothing is an outlier. `values`: one an OSD of the same device class.
std::vector<Standing> standings_of(const std::vector<double>& values, double far = kFarFromMedian);

/// The table, then a line for each outlier, and one for each stored capacity that is far from what
/// was measured: below 0.8 it throttles, above 1.25 it promises what is not there.
std::string osd_bench_text(const std::vector<OsdBenchRow>& rows);
/// {"osds": [{"id": 0, "host": ..., "iops": {"runs": [...], "median": ...}, ...}]}
Json osd_bench_json(const std::vector<OsdBenchRow>& rows);

}  // namespace cephmark
