// Recorder: what one lane measured. Written by the lane's holder only, without locks; once per slot
// and at phase switches the finished segment is handed to the Collector and added to totals that
// result() may read at any time.
//
// Which I/O counts: it belongs to the phase in which it completed. I/O in flight when the warm-up
// ends counts in the measured window, with its whole latency; I/O that completes after the window's
// end counts in the drain only. A job bounded by its size has no fixed end: all its I/O counts.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>

#include "engine/engine.h"
#include "result/run_result.h"
#include "run/collector.h"

namespace cephmark {

struct RecorderSetup {
  int64_t slot_ns = Series::kDefaultSlot_ns;
  bool open_loop = false;  ///< response is measured from due_ns
  bool has_submit_latency = false;
  bool own_thread = false;  ///< the lane has its thread for itself: its CPU time can be told
};

class Recorder {
 public:
  static constexpr size_t kErrorSamples = JobResult::kErrorSamples;
  static constexpr int64_t kLate_ns = 1'000'000;

  Recorder(const RecorderSetup& setup, Collector& collector);

  /// Takes the memory for an op kind now, so that the hot loop does not.
  void reserve(Op op);
  /// The lane begins. All times are monotonic; measure_end_ns INT64_MAX: open end.
  void start(int64_t epoch_ns, int64_t start_ns, int64_t measure_start_ns,
             int64_t measure_end_ns) noexcept;
  /// The window ends here (stop request, end of the work); later completions belong to the drain.
  void end_measure(int64_t at_ns) noexcept;

  /// A request that did all it was asked for; `bytes` may exceed request.length after short I/Os.
  void add(const IoRequest& request, uint64_t bytes) noexcept {
    if (request.completed_ns >= segment_end_ns_) [[unlikely]]
      turn(request.completed_ns);
    const int op = op_index(request.op);
    int64_t response_ns = request.completed_ns - request.submitted_ns;
    if (setup_.open_loop) {
      add_service(op, response_ns, request.submitted_ns - request.due_ns);
      response_ns = request.completed_ns - request.due_ns;
    }
    segment_.bytes[op] += bytes;
    // Requests of one batch share their stamps: equal latencies are counted in one go.
    Run& run = runs_[op];
    if (response_ns == run.value_ns) {
      ++run.count;
      return;
    }
    if (run.count) segment_.response[op].add(run.value_ns, run.count);
    run = {response_ns, 1};
  }

  void add_error(const IoRequest& request, int error) noexcept;
  void add_short(Op op) noexcept { short_ios_[op_index(op)] += measuring(); }
  /// The submit call of `count` requests took `ns` each.
  void add_submit(Op op, int64_t ns, uint64_t count) noexcept;
  /// A batch of `count` went out, `in_flight` are out with it.
  void count_submit(unsigned count, unsigned in_flight) noexcept;
  void count_complete(unsigned count) noexcept;
  /// `count` requests were done one after the other, each in a call of its own.
  void count_blocking(uint64_t count) noexcept;

  /// Publishes what is finished at now_ns; for lanes that are idle. Returns when to come again.
  int64_t visit(int64_t now_ns) noexcept {
    if (now_ns >= segment_end_ns_) turn(now_ns);
    return segment_end_ns_;
  }
  int64_t segment_end_ns() const noexcept { return segment_end_ns_; }
  /// The lane is done: everything is published.
  void finish(int64_t now_ns) noexcept;

  /// What was published so far. Thread-safe. Complete after finish().
  JobResult result() const;

 private:
  struct Run {
    int64_t value_ns = -1;
    uint64_t count = 0;
  };
  bool measuring() const { return segment_.phase == PhaseKind::kMeasure; }
  void add_service(int op, int64_t service_ns, int64_t late_ns) noexcept;
  void turn(int64_t now_ns) noexcept;
  void publish() noexcept;
  void open_segment(int64_t now_ns) noexcept;
  void sample_cpu(bool begin) noexcept;
  int64_t relative(int64_t at_ns) const { return at_ns - epoch_ns_; }

  const RecorderSetup setup_;
  Collector& collector_;
  int64_t segment_end_ns_ = INT64_MAX;
  std::array<Run, kOpCount> runs_;
  SegmentSample segment_;
  int64_t epoch_ns_ = 0, start_ns_ = 0, measure_start_ns_ = 0, measure_end_ns_ = INT64_MAX;
  // Added straight, in the measured window only; read by result() after finish().
  std::array<Histogram, kOpCount> service_, submit_;
  std::array<uint64_t, kOpCount> late_{}, short_ios_{};
  DepthCounters depths_;
  CpuUsage cpu_at_start_, cpu_;

  mutable std::mutex totals_mutex_;
  JobResult totals_;
  bool finished_ = false;
};

/// What a thread, or the process, used so far.
CpuUsage cpu_used(int who);

}  // namespace cephmark
