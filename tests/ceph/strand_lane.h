// strand_lane: the lane, the worker and the slots of strand_probe, built on the product's own
// src/run/strand.h. A lane keeps `depth` reads or writes of one image in flight. Owned by the
// probe; ready() is called by librbd's threads, everything else says who may call it. A lane is
// freed only after rados_shutdown() of its context has returned, since a callback may still be
// between push() and enter() when the last completion has already been counted.
#pragma once

#include <rbd/librbd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/fd.h"
#include "base/rng.h"
#include "run/strand.h"

namespace cephmark::probe {

class Lane;

/// How a lane goes on after a completion.
enum class Mode : uint8_t {
  kCallback,  ///< librbd's own thread advances it (the product's way)
  kWorker,    ///< plain hand-over to a thread (the oracle)
  kBare,      ///< no lane at all: every slot resubmits itself (the yardstick for CPU per I/O)
};

/// A thread that advances lanes whose strand was handed to it while held. give() may be called by
/// any thread.
class Worker {
 public:
  Worker();
  ~Worker();
  void give(Lane& lane) noexcept;

 private:
  void run() noexcept;
  void wake() noexcept;

  UniqueFd wake_fd_;
  std::atomic<Lane*> given_{nullptr};
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

/// What all lanes of a run share.
struct Run {
  Mode mode = Mode::kCallback;
  unsigned depth = 4;
  unsigned budget =
      8;  ///< submissions in one visit of a library thread; the rest goes to the worker
  unsigned write_percent = 0;
  uint64_t image_bytes = 0;
  static constexpr uint64_t kBlock = 4096;
  Worker* worker = nullptr;
  std::atomic<bool> stop{false};
  std::atomic<int> drained{0};     ///< lanes that have nothing in flight after `stop`
  std::atomic<uint64_t> twice{0};  ///< callbacks for a slot that was not in flight
  std::atomic<uint64_t> not_full{
      0};  ///< audits that found a free lane with less than `depth` in flight
  std::atomic<uint64_t> handed_over{0};
  UniqueFd news_fd;  ///< eventfd: the main thread waits on it

  void tell_main() noexcept {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(news_fd.get(), &one, sizeof one);
  }
};

struct Slot {
  IoRequest request;
  std::atomic<uint8_t> out{
      0};  ///< 1 from before the library call to its callback; also publishes `request`
  Lane* lane = nullptr;
  Slot* next_free = nullptr;
  std::unique_ptr<std::byte[]> buffer;
};

class Lane {
 public:
  Lane(Run& run, rbd_image_t image, uint64_t seed) : run_(run), image_(image), rng_(seed) {
    slots_ = std::vector<Slot>(run.depth);
    for (auto& slot : slots_) {
      slot.lane = this;
      slot.buffer = std::make_unique<std::byte[]>(Run::kBlock);
      std::memset(slot.buffer.get(), static_cast<int>(seed & 0xff), Run::kBlock);
      slot.next_free = free_;
      free_ = &slot;
    }
  }

  /// Main thread: fills the queue depth. The lane must be idle.
  void start() {
    CEPHMARK_CHECK(strand_.enter(), "a lane that starts is idle");
    told_drained_ = false;
    run_held(UINT_MAX);
  }

  /// Main thread, after Run::stop was set: a lane with nothing in flight hears of it by this only.
  void kick() {
    if (strand_.enter()) run_held(UINT_MAX);
  }

  /// Main thread, during the load: when nobody holds the lane and nothing waits for it, it must be
  /// full.
  void audit() {
    if (!strand_.enter()) return;
    IoRequest* done = mailbox_.take_all();
    if (!done && in_flight() != run_.depth && !run_.stop.load()) run_.not_full.fetch_add(1);
    take(done);
    run_held(UINT_MAX);
  }

  /// Main thread, tear-down: takes the strand for good, so that nothing is submitted any more and
  /// the counters stand. False: its holder is inside a library call that does not return.
  bool freeze() {
    if (!strand_.enter()) return false;
    take(mailbox_.take_all());
    return true;
  }

  /// The callback of every request, on librbd's threads. Not instrumented, so that no frame of
  /// librbd stands in the stacks that TSan shows for the lane: tests/support/tsan.supp would
  /// suppress its races with librbd's own.
  __attribute__((no_sanitize("thread"), noinline)) static void completed(
      rbd_completion_t completion, void* argument) {
    called_back(completion, *static_cast<Slot*>(argument));
  }

  void run_held(unsigned budget) noexcept;  ///< whoever holds the strand; gives it back or away

  rbd_image_t image() const { return image_; }
  uint64_t issued() const { return issued_.load(std::memory_order_relaxed); }
  uint64_t done() const { return done_.load(std::memory_order_relaxed); }
  uint64_t failed() const { return failed_.load(std::memory_order_relaxed); }
  uint64_t called_back() const { return called_back_.load(std::memory_order_relaxed); }
  int inside() const { return inside_.load(std::memory_order_acquire); }
  bool idle() const { return strand_.idle(); }
  uint64_t in_flight() const { return issued() - done(); }

  Lane* next_given = nullptr;  ///< the worker's list; belongs to the strand's holder

 private:
  static void called_back(rbd_completion_t completion, Slot& slot) noexcept;
  bool advance(unsigned& budget) noexcept;
  void take(IoRequest* done) noexcept;
  void submit(Slot& slot) noexcept;
  void ready(Slot& slot) noexcept;
  // One writer at a time, the holder. Counters are relaxed on purpose: they must not order what the
  // strand is to order.
  static void bump(std::atomic<uint64_t>& counter) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  Run& run_;
  rbd_image_t image_;
  Rng rng_;
  Strand strand_;
  Mailbox mailbox_;
  std::vector<Slot> slots_;
  Slot* free_ = nullptr;
  bool told_drained_ = false;
  std::atomic<uint64_t> issued_{0}, done_{0}, failed_{0}, called_back_{0};
  std::atomic<int> inside_{0};  ///< callbacks between their first and last touch of the lane
};

}  // namespace cephmark::probe
