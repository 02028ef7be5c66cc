// Observer: what a Runner tells while it runs. Called from one thread of the runner at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "job/op.h"
#include "result/run_result.h"

namespace cephmark {

/// The fleet over one second (or since the last tick).
struct TickSample {
  int64_t at_ns = 0;        ///< since the barrier
  int64_t interval_ns = 0;  ///< what the counts are of: ends a little before at_ns
  PhaseKind phase = PhaseKind::kMeasure;
  int stage = 0;
  int64_t phase_left_ns = -1;  ///< -1: not known (no runtime)
  double fraction_done = -1;   ///< -1: not known
  std::array<uint64_t, kOpCount> ios{}, bytes{};
  std::array<uint64_t, kOpCount> errors{};
  Histogram response;  ///< of the interval
  uint64_t in_flight = 0;
  int vms_active = 0;
};

class Observer {
 public:
  virtual ~Observer() = default;
  /// Set-up steps: "opening images", 12 of 64. total 0: not known.
  virtual void progress(const std::string& what, uint64_t done, uint64_t total) = 0;
  virtual void note(const std::string& text) = 0;
  virtual void tick(const TickSample& sample) = 0;
  /// Just before the first I/O of the first stage, and just after the last has come back or was
  /// given up.
  virtual void io_begins() {}
  virtual void io_ended() {}
};

}  // namespace cephmark
