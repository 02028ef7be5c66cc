// SharedWork: what the clones of a job work off together (JobSpec::clones_share): the next place in
// line, the events that are left, the round of flushes under way, the blocks in flight. Owned by
// the lanes together; thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "job/job_spec.h"
#include "workload/region.h"

namespace cephmark {

class SharedWork {
 public:
  struct Ticket {
    enum class Kind : uint8_t { kNone, kOperation, kFlush };
    Kind kind = Kind::kNone;
    uint64_t index = 0;  ///< kOperation: how many came before
    uint32_t file = 0;   ///< kFlush
  };

  /// Null for jobs that need none: each of their lanes goes its own way.
  static std::shared_ptr<SharedWork> of(const JobSpec& job, const Region& region);
  SharedWork(const JobSpec& job, const Region& region);

  /// What is next: a flush while a round of them is due (JobSpec::flush_all), else an operation;
  /// nothing when the events are used up. `counted`: it is one of them.
  Ticket take(bool counted) noexcept;
  /// The operation that was taken writes: the next round of flushes is not idle. Where every
  /// operation writes, the taking has told.
  void wrote() noexcept {
    if (!only_writes_ && !dirty_.load(std::memory_order_relaxed))
      dirty_.store(true, std::memory_order_relaxed);
  }

  /// checked_blocks: a block is written and read by one request at a time, or a check would see
  /// halves. False: somebody has it.
  bool claim(uint64_t block) noexcept;
  void release(uint64_t block) noexcept;
  bool has_claims() const noexcept { return !claims_.empty(); }

 private:
  bool take_event(bool counted) noexcept;
  Ticket take_in_rounds(bool counted) noexcept;

  const uint64_t flush_every_;
  const uint32_t files_;
  const bool limited_;
  const bool only_writes_;  ///< then rounds are exact, however many threads take
  std::atomic<int64_t> events_left_;
  std::atomic<uint64_t> operations_{0};
  std::atomic<bool> dirty_{false};
  std::mutex rounds_mutex_;
  uint32_t next_flush_ = 0;
  std::vector<std::atomic<uint64_t>> claims_;  ///< a bit per block
};

}  // namespace cephmark
