// LaneSource: what a lane is to do next: workload and arrivals behind one call per batch. The real
// one is workload_source.cc; tests script their own. Owned by one lane; called by whoever holds its
// strand.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "engine/engine.h"

namespace cephmark {

class LaneSource {
 public:
  static constexpr int64_t kNever_ns = std::numeric_limits<int64_t>::max();

  virtual ~LaneSource() = default;
  /// The lane begins to issue now (the start of its warm-up): arrivals count from here.
  virtual void start(int64_t now_ns) = 0;
  /// Fills op, file, offset, length, the payload of writes and (open loop) due_ns of up to
  /// slots.size() requests, from the front, with what is due at now_ns. Returns how many; 0 when
  /// nothing is due or the work is done.
  virtual int next_batch(std::span<IoRequest* const> slots, int64_t now_ns) noexcept = 0;
  /// What is to be issued once everything has completed (end_fsync): fills `slots` from the front.
  /// 0: nothing, or no more.
  virtual int end_batch(std::span<IoRequest* const> slots) noexcept {
    static_cast<void>(slots);
    return 0;
  }
  /// True: completed() wants to be told of each request, for a price.
  virtual bool looks_at_completions() const noexcept { return false; }
  /// A request came to its end; `offset` is its first, `data` what its buffer holds (empty when it
  /// failed). Returns 0, or the errno with which it fails after all: what was read is not what was
  /// written.
  virtual int completed(const IoRequest& request, uint64_t offset,
                        std::span<const std::byte> data) noexcept {
    static_cast<void>(request);
    static_cast<void>(offset);
    static_cast<void>(data);
    return 0;
  }
  /// True: no I/O will come any more (size, number_ios or loops reached).
  virtual bool exhausted() const noexcept = 0;
  /// When the next I/O is due: at or before now in a closed loop, kNever_ns when exhausted.
  virtual int64_t next_due_ns() const noexcept = 0;
  /// True: requests carry due_ns (fixed rate, Poisson). False: each is due when it is submitted.
  virtual bool open_loop() const noexcept = 0;
};

}  // namespace cephmark
