// Arrival: when operations are due. Closed loop where a direction has no rate; else a schedule that
// knows nothing of completions: an operation issued late stays due when it was due, and nothing is
// caught up or left out. One per lane.
#pragma once

#include <cstdint>

#include "base/rng.h"
#include "job/job_spec.h"

namespace cephmark {

class Arrival {
 public:
  /// rate_iops (operations) or rate (bytes: each operation takes its own length) per direction that
  /// the job has, or event_rate over all kinds; evenly spaced, or as a Poisson process with the
  /// same mean (rate_process).
  Arrival(const JobSpec& job, uint64_t seed);

  bool any() const noexcept { return any_; }
  bool is_rated(Op op) const noexcept { return of(op).rate != 0; }
  /// Sets the schedule's origin. Linear: the first operation is due within the first interval
  /// behind it, at a phase drawn from the seed once for all directions of the lane, so that lanes
  /// of equal rates do not fire together. Poisson: one random gap later.
  void start(int64_t epoch_ns) noexcept;
  /// Linear: which part of its first interval passes before the lane's first operation, in
  /// billionths, below 10^9. Poisson: 0.
  uint64_t phase_billionths() const noexcept { return phase_billionths_; }
  /// When the next operation of a rated direction is due.
  int64_t due_ns(Op op) const noexcept { return of(op).due_ns; }
  /// The operation due at due_ns(op) was taken and is `bytes` long: moves on to the one behind it.
  void advance(Op op, uint64_t bytes) noexcept;

  /// event_rate: when the next of any kind is due; advance_event() when it was taken.
  bool has_event_rate() const noexcept { return event_gap_ns_ > 0; }
  int64_t event_due_ns() const noexcept { return event_due_ns_; }
  void advance_event() noexcept;

 private:
  struct Direction {
    uint64_t rate = 0;  ///< per second; 0: no limit
    bool in_bytes = false;
    int64_t due_ns = 0;
    /// Linear: what is left of a nanosecond, in 1/rate ns, so that no error adds up.
    uint64_t remainder = 0;
    double fraction = 0;  ///< Poisson: the same, in ns
    uint64_t cost = 0;    ///< of the last gap worked out, with its quotient and remainder
    int64_t quotient_ns = 0;
    uint64_t gap_remainder = 0;
    uint64_t mean_bytes = 0;  ///< in bytes: stands for the operation before the first
  };
  const Direction& of(Op op) const noexcept { return directions_[op_index(op)]; }
  void advance_poisson(Direction& direction, uint64_t cost) noexcept;
  /// A random gap behind `due_ns`; what is less than a nanosecond is kept in `fraction`.
  void add_gap(double mean_ns, int64_t& due_ns, double& fraction) noexcept;

  PerDirection<Direction> directions_;
  Rng rng_;
  uint64_t phase_billionths_ = 0;
  double event_gap_ns_ = 0, event_fraction_ = 0;
  int64_t event_due_ns_ = 0;
  bool poisson_ = false;
  bool any_ = false;
};

}  // namespace cephmark
