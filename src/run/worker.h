// Worker: a thread that drives lanes of one completion mode (the hot loop is drive() in worker.cc).
// It owns the port of its kernel engine. Made and started by the runner; wake() and HandOver may be
// called from any thread.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "run/lane.h"

namespace cephmark {

class Worker final : public HandOver {
 public:
  static constexpr size_t kReapBatch = 256;

  Worker(CompletionMode mode, RunControl& control);
  ~Worker();

  void add(Lane& lane);
  const std::vector<Lane*>& lanes() const { return lanes_; }
  void set_port(std::unique_ptr<Port> port) { port_ = std::move(port); }
  Port* port() const { return port_.get(); }
  CompletionMode mode() const { return mode_; }

  void start();
  /// True when its thread has come back from its loop (RunControl::quit was called).
  bool ended() const { return ended_.load(std::memory_order_acquire); }
  /// Waits for the thread, which must be about to end.
  void join();
  void wake() noexcept;

  // One turn of the loop without waiting; for tests with a clock of their own. Returns when to come
  // again.
  int64_t turn() noexcept;

  void hand_over(Lane& lane) noexcept override;
  void wake_by(int64_t at_ns) noexcept override;

 private:
  void loop() noexcept;
  int64_t turn_polled() noexcept;
  int64_t turn_blocking() noexcept;
  int64_t turn_callback() noexcept;
  void visit_all(int64_t now_ns) noexcept;
  /// True once after each new stage and stop request.
  bool take_news() noexcept;
  void take_handed_over() noexcept;
  void flush() noexcept;

  const CompletionMode mode_;
  RunControl& control_;
  std::vector<Lane*> lanes_;
  std::unique_ptr<Port> port_;
  UniqueFd wake_fd_;
  std::thread thread_;
  std::atomic<bool> ended_{false};

  int64_t next_visit_ns_ = 0;
  int seen_stage_ = -1;
  int64_t seen_stop_ns_ = RunControl::kNever_ns;
  bool idle_ = true;  ///< kBlocking: nothing was issued in the last turn
  std::vector<Lane*> touched_;
  std::vector<IoRequest*> reaped_;
  std::atomic<int64_t> wait_until_ns_{INT64_MAX};
  std::atomic<bool> wake_pending_{false};
  std::atomic<Lane*> handed_over_{nullptr};
};

}  // namespace cephmark
