// RunControl: what the runner tells its lanes and hears from them. One per run; thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>

namespace cephmark {

class RunControl {
 public:
  static constexpr int64_t kNever_ns = std::numeric_limits<int64_t>::max();

  /// Once, before the first stage: the instant that results are relative to.
  void set_epoch(int64_t epoch_ns) { epoch_ns_ = epoch_ns; }
  int64_t epoch_ns() const noexcept { return epoch_ns_; }

  // Written by the runner. A stage is released by release_stage(), and then every worker is woken.
  void release_stage(int stage, int64_t start_ns, int lanes) {
    active_.store(lanes, std::memory_order_relaxed);
    stage_start_ns_.store(start_ns, std::memory_order_relaxed);
    stage_.store(stage, std::memory_order_release);
  }
  /// The same as a deadline for every lane; the first call wins.
  void stop_at(int64_t now_ns) {
    int64_t expected = kNever_ns;
    stop_ns_.compare_exchange_strong(expected, now_ns);
    const std::lock_guard lock(mutex_);
    news_.notify_all();
  }
  void quit() { quit_.store(true, std::memory_order_release); }

  // Read by lanes and workers.
  int stage() const noexcept { return stage_.load(std::memory_order_acquire); }
  int64_t stage_start_ns() const noexcept {
    return stage_start_ns_.load(std::memory_order_relaxed);
  }
  int64_t stop_ns() const noexcept { return stop_ns_.load(std::memory_order_relaxed); }
  bool quitting() const noexcept { return quit_.load(std::memory_order_acquire); }

  /// A lane of the released stage has ended. Called from any thread, once per lane.
  void lane_done() noexcept {
    if (active_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    const std::lock_guard lock(mutex_);
    news_.notify_all();
  }
  int active() const noexcept { return active_.load(std::memory_order_acquire); }

  /// Runner: waits until all lanes of the stage are done, a stop comes in, or `timeout_ns` is over.
  void wait_for_news(int64_t timeout_ns, bool stop_is_known) {
    std::unique_lock lock(mutex_);
    news_.wait_for(lock, std::chrono::nanoseconds(timeout_ns),
                   [&] { return active() == 0 || (!stop_is_known && stop_ns() != kNever_ns); });
  }

 private:
  int64_t epoch_ns_ = 0;
  std::atomic<int> stage_{-1};
  std::atomic<int64_t> stage_start_ns_{0};
  std::atomic<int64_t> stop_ns_{kNever_ns};
  std::atomic<int> active_{0};
  std::atomic<bool> quit_{false};
  std::mutex mutex_;
  std::condition_variable news_;
};

}  // namespace cephmark
