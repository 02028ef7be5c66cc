#include "run/worker.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/check.h"
#include "base/error.h"
#include "base/time.h"
#include "engine/poll_until.h"

namespace cephmark {
namespace {

/// Nobody sleeps longer than this, whatever the timers say.
constexpr int64_t kLongestSleep_ns = 10 * kNsPerSecond;
/// A lane that another thread holds is looked at again after this, in case its holder is stuck in a
/// library call.
constexpr int64_t kHeldElsewhere_ns = 10 * kNsPerMs;

}  // namespace

Worker::Worker(CompletionMode mode, RunControl& control)
    : mode_(mode),
      control_(control),
      wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      reaped_(kReapBatch) {
  if (!wake_fd_)
    throw Error(fmt::format("cannot make an eventfd: {}", errno_text(errno)),
                "raise the open-files limit");
}

Worker::~Worker() {
  CEPHMARK_CHECK(!thread_.joinable(), "a worker is destroyed before its thread was joined");
}

void Worker::add(Lane& lane) {
  lane.set_worker(this);
  lanes_.push_back(&lane);
  touched_.reserve(2 * lanes_.size());
}

void Worker::start() try {
  thread_ = std::thread([this] {
    prctl(PR_SET_TIMERSLACK, 1UL);  // rates are timers: 50 us of slack would be latency
    // A table of descriptors that threads share makes the kernel count references in every call.
    // All that this thread uses is open by now and outlives it. Where it is forbidden, that costs 2
    // %.
    if (mode_ == CompletionMode::kBlocking) static_cast<void>(unshare(CLONE_FILES));
    loop();
    ended_.store(true, std::memory_order_release);
  });
} catch (const std::system_error& error) {
  throw Error(fmt::format("cannot start another thread: {}", error.code().message()),
              "engines whose calls block (psync) take a thread for each clone: a smaller numjobs, "
              "or ioengine=io_uring; limits are in ulimit -u, ulimit -v and the cgroup's pids.max");
}

void Worker::join() {
  if (thread_.joinable()) thread_.join();
}

void Worker::wake() noexcept {
  if (wake_pending_.exchange(true)) return;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t wrote = write(wake_fd_.get(), &one, sizeof(one));
}

void Worker::hand_over(Lane& lane) noexcept {
  if (!lane.handed_over.exchange(true)) {
    lane.next_handed_over = handed_over_.load(std::memory_order_relaxed);
    while (!handed_over_.compare_exchange_weak(
        lane.next_handed_over, &lane, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }
  wake();
}

void Worker::wake_by(int64_t at_ns) noexcept {
  // Ordered against turn_callback(): either we see that it is awake, or it sees the lane's new
  // time.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (at_ns < wait_until_ns_.load(std::memory_order_seq_cst)) wake();
}

void Worker::loop() noexcept {
  while (!control_.quitting()) {
    if (const int64_t timer_ns = turn(); timer_ns > 0) {
      const int64_t until_ns = std::min(timer_ns, monotonic_ns() + kLongestSleep_ns);
      if (mode_ == CompletionMode::kPolled)
        port_->wait(wake_fd_.get(), until_ns);
      else
        poll_until(wake_fd_.get(), until_ns);
    }
    if (wake_pending_.load(std::memory_order_relaxed)) {
      uint64_t ignored = 0;
      while (read(wake_fd_.get(), &ignored, sizeof(ignored)) > 0) {
      }
      wake_pending_.store(false);
    }
  }
}

int64_t Worker::turn() noexcept {
  switch (mode_) {
    case CompletionMode::kPolled:
      return turn_polled();
    case CompletionMode::kBlocking:
      return turn_blocking();
    case CompletionMode::kCallback:
      return turn_callback();
  }
  return 0;
}

// The hot loop: takes what the kernel has finished, gives each lane its share, and lets it submit
// again. Two clock reads per turn and lane, none per I/O. Returns 0 as long as there is something
// to do at once.
int64_t Worker::turn_polled() noexcept {
  const int count = port_->reap(reaped_);
  touched_.clear();
  for (int i = 0; i < count;) {
    auto* lane = static_cast<Lane*>(reaped_[i]->lane);
    int end = i + 1;
    while (end < count && reaped_[end]->lane == lane) ++end;
    lane->complete({&reaped_[i], static_cast<size_t>(end - i)});
    if (!lane->touched) {
      lane->touched = true;
      touched_.push_back(lane);
    }
    i = end;
  }
  int64_t now_ns = 0;
  for (Lane* lane : touched_) {
    lane->touched = false;
    now_ns = lane->now();
    lane->refill(now_ns, UINT32_MAX);
    next_visit_ns_ = std::min(next_visit_ns_, lane->after_refill(now_ns));
  }
  if (now_ns == 0) now_ns = lanes_.front()->now();
  if (take_news() || now_ns >= next_visit_ns_) visit_all(now_ns);
  flush();
  return count > 0 ? 0 : next_visit_ns_;
}

void Worker::visit_all(int64_t now_ns) noexcept {
  next_visit_ns_ = INT64_MAX;
  for (Lane* lane : lanes_) {
    if (lane->done()) continue;
    lane->visit(now_ns);
    lane->refill(now_ns, UINT32_MAX);
    next_visit_ns_ = std::min(next_visit_ns_, lane->visit(now_ns));
    if (lane->has_unflushed()) touched_.push_back(lane);
  }
}

bool Worker::take_news() noexcept {
  const int stage = control_.stage();
  const int64_t stop_ns = control_.stop_ns();
  if (stage == seen_stage_ && stop_ns == seen_stop_ns_) return false;
  seen_stage_ = stage;
  seen_stop_ns_ = stop_ns;
  return true;
}

void Worker::flush() noexcept {
  if (touched_.empty()) return;
  port_->flush();
  const int64_t now_ns = touched_.front()->now();
  for (Lane* lane : touched_)
    if (lane->has_unflushed()) lane->flushed(now_ns);
}

int64_t Worker::turn_blocking() noexcept {
  Lane& lane = *lanes_.front();
  if (lane.done()) return INT64_MAX;
  // As long as I/O follows I/O, the stamp of the last completion is the time.
  const int64_t last_ns = lane.last_completion_ns();
  const int64_t now_ns = idle_ ? lane.now() : last_ns;
  if (take_news() || now_ns >= next_visit_ns_) next_visit_ns_ = lane.visit(now_ns);
  lane.refill(now_ns, 1);
  idle_ = lane.last_completion_ns() == last_ns;
  if (!idle_) return 0;
  next_visit_ns_ = lane.visit(lane.now());
  return lane.done() ? INT64_MAX : next_visit_ns_;
}

int64_t Worker::turn_callback() noexcept {
  wait_until_ns_.store(INT64_MAX, std::memory_order_seq_cst);  // awake
  std::atomic_thread_fence(std::memory_order_seq_cst);
  take_handed_over();
  const int64_t now_ns = lanes_.front()->now();
  const bool news = take_news();
  int64_t next_ns = INT64_MAX;
  for (Lane* lane : lanes_) {
    if (lane->done()) continue;
    const bool due = news || lane->next_wake_ns() <= now_ns;
    if (due && !lane->advance_by_worker())
      next_ns = std::min(next_ns, std::max(lane->next_wake_ns(), now_ns + kHeldElsewhere_ns));
    else
      next_ns = std::min(next_ns, lane->next_wake_ns());
  }
  if (handed_over_.load(std::memory_order_acquire)) return 0;
  wait_until_ns_.store(next_ns, std::memory_order_seq_cst);
  return next_ns;
}

void Worker::take_handed_over() noexcept {
  Lane* lane = handed_over_.exchange(nullptr, std::memory_order_acquire);
  while (lane) {
    Lane* next = lane->next_handed_over;
    lane->handed_over.store(false);
    lane->advance_by_worker();
    lane = next;
  }
}

}  // namespace cephmark
