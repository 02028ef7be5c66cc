// Lane: one numjobs clone of one section of one VM: a queue into an engine, a source of work, its
// slots, its recorder. A lane is a strand: one thread at a time advances it. Lanes of kernel
// engines are only ever touched by their worker; those of library engines by their worker or by the
// library's completion thread, whichever finds it free.
//
// Life: waiting -> running (warm-up and measured window) -> draining -> done. drive (worker.cc)
// calls, the lane decides.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/engine.h"
#include "engine/engine_table.h"
#include "run/lane_source.h"
#include "run/recorder.h"
#include "run/run_control.h"
#include "run/strand.h"

namespace cephmark {

class Lane;

/// Who takes over what a completion thread may not do itself. Thread-safe.
class HandOver {
 public:
  /// The lane has work that only a worker may do.
  virtual void hand_over(Lane& lane) noexcept = 0;
  /// The lane must be visited at `at_ns`, perhaps earlier than its worker means to wake.
  virtual void wake_by(int64_t at_ns) noexcept = 0;

 protected:
  ~HandOver() = default;
};

struct LaneSetup {
  int vm = 0, job = 0, clone = 0, stage = 0;
  std::vector<Op> ops;  ///< kinds it may issue: memory is reserved for them
  CompletionMode mode = CompletionMode::kPolled;
  unsigned depth = 1;
  int64_t startdelay_ns = 0, ramp_ns = 0;
  int64_t runtime_ns = 0;  ///< 0: until the source is exhausted
  int64_t drain_grace_ns = 10'000'000'000;
  bool has_submit_latency = false;
  bool continue_on_error = false;  ///< false: the job stops at its first error (fio's rule)
  bool hand_over_only = false;     ///< the oracle: completion threads never advance a lane
  unsigned callback_budget = 8;    ///< submissions per visit of a completion thread
  /// kBlocking: how many requests go to one submit call, which does them one after the other (depth
  /// stays 1). Above 1 they share the memory of one slot: for jobs that only read.
  unsigned blocking_batch = 1;
  uint64_t slot_bytes = 0;       ///< of buffer per slot; 0: none
  int64_t (*clock)() = nullptr;  ///< monotonic_ns, or a test's
};

class Lane final : public Ready {
 public:
  /// `memory`: depth * slot_bytes, page aligned; outlives the lane.
  Lane(const LaneSetup& setup, const RecorderSetup& recording, std::unique_ptr<LaneSource> source,
       std::byte* memory, RunControl& control, Collector& collector);

  void set_queue(std::unique_ptr<IoQueue> queue) { queue_ = std::move(queue); }
  void set_worker(HandOver* worker) { worker_ = worker; }
  std::vector<std::span<std::byte>> buffers() const;
  const LaneSetup& setup() const { return setup_; }

  // For the holder.
  void complete(std::span<IoRequest* const> batch) noexcept;
  /// Looks at the clock: starts, ends, publishes. Returns when to come again.
  int64_t visit(int64_t now_ns) noexcept;
  /// Submits what is due, at most `budget` requests. Returns true when the budget stopped it.
  bool refill(int64_t now_ns, unsigned budget) noexcept;
  /// Timers that refill() may have moved to an earlier time; INT64_MAX when it cannot have.
  int64_t after_refill(int64_t now_ns) noexcept {
    return state_ == State::kRunning && !open_loop_ && again_.empty() ? INT64_MAX : visit(now_ns);
  }
  int64_t last_completion_ns() const noexcept { return last_completion_ns_; }
  /// The worker's port has been flushed: what went out with it took until now_ns.
  void flushed(int64_t now_ns) noexcept;
  bool has_unflushed() const noexcept { return unflushed_ != 0; }
  int64_t now() const noexcept { return setup_.clock(); }

  // kCallback: for anyone.
  void ready(IoRequest& request) noexcept override;
  /// By the lane's worker: completions, clock, everything that is due. False: somebody else is at
  /// it, and will look again before it lets go.
  bool advance_by_worker() noexcept;

  bool done() const noexcept { return done_.load(std::memory_order_acquire); }
  int64_t next_wake_ns() const noexcept { return next_wake_ns_.load(std::memory_order_relaxed); }
  unsigned in_flight() const noexcept { return in_flight_.load(std::memory_order_relaxed); }
  /// Thread-safe; complete once done().
  JobResult result() const;
  /// After done() with nothing abandoned: no library thread is inside ready() any more, the lane
  /// may be destroyed.
  bool quiet() const noexcept { return visitors_.load(std::memory_order_acquire) == 0; }
  void release_queue() { queue_.reset(); }

  // The worker's: links of its hand-over list.
  std::atomic<bool> handed_over{false};
  Lane* next_handed_over = nullptr;
  bool touched = false;  ///< by the present reap

 private:
  static constexpr uint32_t kPartly = 1;  ///< IoRequest::flags: re-issued for the remainder
  enum class State : uint8_t { kWaiting, kRunning, kDraining, kDone };

  void start(int64_t start_ns) noexcept;
  void stop_issuing(int64_t at_ns) noexcept;
  void maybe_done(int64_t now_ns) noexcept;
  void record(std::span<IoRequest* const> batch) noexcept;
  void look_at(std::span<IoRequest* const> batch) noexcept;
  void run_blocking(std::span<IoRequest*> batch) noexcept;
  void finish(int64_t now_ns) noexcept;
  void complete_oddly(IoRequest& request) noexcept;
  void put_back(IoRequest& request) noexcept;
  unsigned submit(std::span<IoRequest*> batch, int64_t now_ns) noexcept;
  void offer_again(int64_t now_ns) noexcept;
  void take_mailbox() noexcept;
  void advance(unsigned budget) noexcept;
  std::byte* slot_memory(uint32_t slot) const noexcept {
    return memory_ && setup_.blocking_batch == 1 ? memory_ + slot * setup_.slot_bytes : memory_;
  }
  void set_next_wake(int64_t at_ns) noexcept {
    next_wake_ns_.store(at_ns, std::memory_order_relaxed);
  }

  const LaneSetup setup_;
  const bool open_loop_;
  const bool looks_at_completions_;
  RunControl& control_;
  Recorder recorder_;
  std::unique_ptr<LaneSource> source_;
  std::unique_ptr<IoQueue> queue_;
  HandOver* worker_ = nullptr;
  std::byte* const memory_;

  State state_ = State::kWaiting;
  bool issuing_ = false;
  bool end_batches_left_ = true;
  int64_t end_flush_start_ns_ = 0;  ///< 0: they have not begun
  uint64_t end_flushes_ = 0;        ///< done without error
  int64_t start_ns_ = 0, deadline_ns_ = INT64_MAX, drain_deadline_ns_ = INT64_MAX;
  int64_t last_completion_ns_ = 0;
  std::vector<IoRequest> slots_;
  std::vector<IoRequest*> free_;  ///< a stack
  size_t free_count_ = 0;
  std::vector<IoRequest*> again_;     ///< not accepted yet, or to be re-issued for the remainder
  std::vector<uint64_t> done_bytes_;  ///< by slot: what short completions have brought
  uint64_t unflushed_ = 0, unflushed_by_op_[kOpCount] = {};
  int64_t unflushed_since_ns_ = 0;
  std::atomic<uint64_t> issued_{0};
  std::atomic<int64_t> abandoned_{0};
  std::atomic<bool> failed_{false}, stopped_early_{false};

  Strand strand_;
  Mailbox mailbox_;
  std::atomic<unsigned> visitors_{0};
  std::atomic<unsigned> in_flight_{0};
  std::atomic<int64_t> next_wake_ns_{INT64_MAX};
  std::atomic<bool> done_{false};
};

}  // namespace cephmark
