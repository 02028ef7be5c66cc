// Collector: where lanes hand over what happened in a slot of time, for the live line and for the
// fleet's interval histograms. One per run; thread-safe; called about once per lane and slot, never
// per I/O.
#pragma once

#include <array>
#include <mutex>
#include <vector>

#include "result/observer.h"
#include "result/run_result.h"

namespace cephmark {

/// What one lane did in (part of) one slot and one phase.
struct SegmentSample {
  PhaseKind phase = PhaseKind::kWarmup;
  size_t slot = 0;  ///< from the epoch
  std::array<Histogram, kOpCount> response;
  std::array<uint64_t, kOpCount> bytes{};
  std::array<uint64_t, kOpCount> errors{};
};

class Collector {
 public:
  /// Interval histograms are kept for at most this many slots: beyond it, neighbours are merged and
  /// the width doubles.
  static constexpr size_t kMaxIntervals = 2048;

  explicit Collector(int64_t slot_ns) : interval_ns_(slot_ns), slot_ns_(slot_ns) {}

  void add(const SegmentSample& sample);
  /// Moves what came in since the last call into `tick` (counts, bytes, errors, response).
  void take_fresh(TickSample& tick);
  /// Moves the interval histograms out, and tells the witness what was done in all phases; call
  /// when no lane adds any more.
  void finish(RunResult& result);

 private:
  void halve();

  std::mutex mutex_;
  int64_t interval_ns_;
  const int64_t slot_ns_;
  std::array<std::vector<Histogram>, kOpCount> intervals_;
  TickSample fresh_;
  std::array<uint64_t, kOpCount> all_ios_{}, all_bytes_{};  ///< in all phases
};

}  // namespace cephmark
