// Strand: the word that lets one thread at a time advance a lane, whichever thread that is, and
// Mailbox: where completions wait that found the lane taken. Neither locks, blocks or allocates;
// every function is thread-safe.
//
//   whoever has news:   mailbox.push(request); if (strand.enter()) { do advance(lane); while
//   (!strand.leave()); } advance(lane):      take_all() from the mailbox, record, submit what is
//   due
//
// States of the word: idle, running, running and dirty. Everything that the holder wrote is
// published by leave() to the next enter(); everything written before a failed enter() is seen by
// the holder's next advance().
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/engine.h"

namespace cephmark {

class Strand {
 public:
  /// True: the caller is the holder now, and must advance and then leave() until that returns true.
  /// False: somebody else holds it and will look again before it goes idle.
  bool enter() noexcept {
    uint32_t word = word_.load(std::memory_order_relaxed);
    for (;;) {
      // Every branch is a read-modify-write, so that a stale word cannot lose a wake-up.
      const bool idle = word == kIdle;
      if (word_.compare_exchange_weak(word, idle ? kRunning : kDirty, std::memory_order_acq_rel,
                                      std::memory_order_relaxed))
        return idle;
    }
  }

  /// True: the strand is idle, the caller must not touch the lane any more. False: something came
  /// in meanwhile, the caller still holds it and must advance again.
  bool leave() noexcept {
    uint32_t word = kRunning;
    if (word_.compare_exchange_strong(word, kIdle, std::memory_order_acq_rel,
                                      std::memory_order_relaxed))
      return true;
    word_.exchange(kRunning, std::memory_order_acq_rel);
    return false;
  }

  /// For tear-down and tests: nobody holds it.
  bool idle() const noexcept { return word_.load(std::memory_order_acquire) == kIdle; }

 private:
  static constexpr uint32_t kIdle = 0, kRunning = 1, kDirty = 2;
  std::atomic<uint32_t> word_{kIdle};
};

/// Multi-producer, single-consumer list of finished requests, linked through IoRequest::next.
class Mailbox {
 public:
  void push(IoRequest& request) noexcept {
    request.next = head_.load(std::memory_order_relaxed);
    while (!head_.compare_exchange_weak(request.next, &request, std::memory_order_release,
                                        std::memory_order_relaxed)) {
    }
  }

  /// All requests pushed so far, oldest first, linked by `next`; null when there are none. Holder
  /// only.
  IoRequest* take_all() noexcept {
    if (head_.load(std::memory_order_relaxed) == nullptr) return nullptr;
    IoRequest* newest = head_.exchange(nullptr, std::memory_order_acquire);
    IoRequest* oldest = nullptr;
    while (newest) {
      IoRequest* before = newest->next;
      newest->next = oldest;
      oldest = newest;
      newest = before;
    }
    return oldest;
  }

 private:
  std::atomic<IoRequest*> head_{nullptr};
};

}  // namespace cephmark
