// rados_bench_figures: the numbers that `rados bench` tells: a row a second, and the summary. Made
// from ticks and the RunResult; owned by the report, one thread at a time. No minimum or maximum is
// ever a number that stands for "none": where no whole second was seen they are absent.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "result/observer.h"
#include "result/run_result.h"

namespace cephmark {

inline constexpr double kNsPerS = 1e9;
inline constexpr double kRounding = 1e-6;  ///< added before a floor: whole numbers stay whole

struct RadosBenchRow {
  int64_t second = 0;
  uint64_t in_flight = 0, started = 0, finished = 0;
  double mean_mib_s = 0;            ///< since the beginning
  double current_mib_s = 0;         ///< in this second
  std::optional<double> latency_s;  ///< mean of what ended in this second; absent: nothing did
  double mean_latency_s = 0;        ///< since the beginning
};

/// Ticks -> rows. Ops that failed are finished, too; only those that did not fail have a latency.
class RadosBenchRows {
 public:
  explicit RadosBenchRows(uint64_t op_size_bytes) : op_size_bytes_(op_size_bytes) {}

  /// The row of second 0.
  RadosBenchRow first(uint64_t in_flight);
  /// The row of the second that ends with this tick; nothing while a second is not over, and for
  /// what is left at the end.
  std::optional<RadosBenchRow> add(const TickSample& sample);

  const std::vector<RadosBenchRow>& rows() const { return rows_; }
  const Histogram& latencies() const { return all_; }  ///< of all ticks so far

 private:
  uint64_t op_size_bytes_;
  std::vector<RadosBenchRow> rows_;
  Histogram all_, current_;
  uint64_t finished_ = 0, finished_before_ = 0;
  int64_t interval_ns_ = 0;  ///< of the row that is under way
  int64_t covered_ns_ = 0;   ///< of all rows so far
  int64_t last_row_at_ns_ = 0;
};

struct RadosBenchSpread {
  double stddev = 0, min = 0, max = 0;
};

struct RadosBenchSummary {
  double seconds = 0;
  uint64_t ops = 0, bytes = 0, errors = 0;
  double mib_s = 0, iops = 0;
  std::optional<RadosBenchSpread> mib_s_spread, iops_spread;  ///< over whole seconds, idle ones too
  Histogram latency;
};

/// Of the ops of one kind. `rows`: those after the one of second 0 count.
RadosBenchSummary rados_bench_summary(const RunResult& result, Op op, uint64_t op_size_bytes,
                                      const std::vector<RadosBenchRow>& rows);

}  // namespace cephmark
