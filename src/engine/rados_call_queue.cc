#include "engine/rados_call_queue.h"

#include "base/check.h"
#include "base/time.h"

namespace cephmark {
namespace {

// The queue whose submit() is on this thread's stack, so that a completion from inside it is not
// told there.
thread_local const void* in_submit = nullptr;

}  // namespace

RadosCallQueue::RadosCallQueue(rados_ioctx_t io, ConnectionPool& pool, const QueueSetup& setup)
    : io_(io), pool_(pool), ready_(*setup.ready), slots_(setup.depth) {
  for (auto& slot : slots_) slot.queue = this;
}

int RadosCallQueue::submit(std::span<IoRequest* const> batch) noexcept {
  in_submit = this;
  for (IoRequest* request : batch) {
    Slot& slot = slots_[request->slot];
    if (request->submitted_ns == 0) request->submitted_ns = monotonic_ns();
    slot.request.store(request, std::memory_order_release);
    rados_completion_t completion = nullptr;
    int r = rados_aio_create_completion2(&slot, &RadosCallQueue::completed, &completion);
    if (r == 0) {
      // From here on the request may be completed and used again by another thread: it is not
      // touched any more.
      r = start(*request, completion);
      if (r < 0) rados_aio_release(completion);
    }
    if (r < 0) end(slot, r);  // the library did not take the call and will not call back
  }
  in_submit = nullptr;
  return static_cast<int>(batch.size());
}

// Not instrumented, so that no frame of librados stands in TSan's stacks of our code
// (tests/support/tsan.supp).
__attribute__((no_sanitize("thread"), noinline)) void RadosCallQueue::completed(
    rados_completion_t completion, void* slot) {
  finish(completion, *static_cast<Slot*>(slot));
}

__attribute__((noinline)) void RadosCallQueue::finish(rados_completion_t completion,
                                                      Slot& slot) noexcept {
  const int64_t value = rados_aio_get_return_value(completion);
  rados_aio_release(completion);
  slot.queue->end(slot, value);
}

void RadosCallQueue::end(Slot& slot, int64_t value) noexcept {
  IoRequest* request = slot.request.exchange(nullptr, std::memory_order_acq_rel);
  CEPHMARK_CHECK(request, "librados completed a request twice");
  request->completed_ns = monotonic_ns();
  request->result = result_of(*request, value);
  if (in_submit != this) [[likely]] {
    ready_.ready(*request);
    return;
  }
  pool_.run_soon([&ready = ready_, request] { ready.ready(*request); });
}

}  // namespace cephmark
