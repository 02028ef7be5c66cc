// WitnessFigures: what the OSDs counted beside what this program did, from the same time, in bytes
// and in operations. Pure functions; the text report and the advice share them.
#pragma once

#include <string>
#include <vector>

#include "result/figures.h"
#include "result/run_result.h"

namespace cephmark {

struct WitnessSide {
  uint64_t client_ios = 0, client_bytes = 0;  ///< ours, all phases
  uint64_t osd_ops = 0, osd_bytes = 0;
  /// client_bytes / osd_bytes; 0: too little was moved to say anything; infinite when the OSDs saw
  /// nothing of it.
  double byte_ratio = 0;
};

struct WitnessFigures {
  bool available = false;  ///< counters were read, and a Ceph engine was used
  WitnessSide reads, writes;
  uint64_t extra_ops = 0;
};

/// Above it the counters disagree (advice counters-disagree).
inline constexpr double kCounterRatio = 1.1;

WitnessFigures witness_figures(const RunResult& result, const RunFigures& figures);

/// What the report says of them, a line each: bytes, operations and what explains their number,
/// copy-up of clones. Empty unless available.
std::vector<std::string> witness_lines(const RunResult& result, const WitnessFigures& figures);

}  // namespace cephmark
