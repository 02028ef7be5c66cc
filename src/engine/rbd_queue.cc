#include "engine/rbd_queue.h"

#include "base/check.h"
#include "base/time.h"

namespace cephmark {
namespace {

// The queue whose submit() is on this thread's stack, so that a completion from inside it is not
// told there.
thread_local const void* submitting = nullptr;

// What the caller wants to see: whole lengths for the calls that return 0.
int64_t result_of(const IoRequest& request, int64_t value) {
  if (value < 0 || request.op == Op::kRead) return value;
  return request.op == Op::kFlush ? 0 : static_cast<int64_t>(request.length);
}

}  // namespace

RbdQueue::RbdQueue(rbd_image_t image, ConnectionPool& pool, const QueueSetup& setup)
    : image_(image), pool_(pool), ready_(*setup.ready), slots_(setup.depth) {
  for (auto& slot : slots_) slot.queue = this;
}

int RbdQueue::submit(std::span<IoRequest* const> batch) noexcept {
  submitting = this;
  for (IoRequest* request : batch) {
    Slot& slot = slots_[request->slot];
    if (request->submitted_ns == 0) request->submitted_ns = monotonic_ns();
    slot.request.store(request, std::memory_order_release);
    rbd_completion_t completion = nullptr;
    int r = rbd_aio_create_completion(&slot, &RbdQueue::completed, &completion);
    if (r == 0) {
      // From here on the request may be completed and used again by another thread: it is not
      // touched any more.
      r = start(*request, completion);
      if (r < 0) rbd_aio_release(completion);
    }
    if (r < 0) refuse(slot, r);
  }
  submitting = nullptr;
  return static_cast<int>(batch.size());
}

int RbdQueue::start(IoRequest& request, rbd_completion_t completion) noexcept {
  char* data = reinterpret_cast<char*>(request.buffer);
  switch (request.op) {
    case Op::kRead:
      return rbd_aio_read(image_, request.offset, request.length, data, completion);
    case Op::kWrite:
      return rbd_aio_write(image_, request.offset, request.length, data, completion);
    case Op::kTrim:
      return rbd_aio_discard(image_, request.offset, request.length, completion);
    case Op::kFlush:
      return rbd_aio_flush(image_, completion);
    case Op::kWriteZeroes:
      return rbd_aio_write_zeroes(image_, request.offset, request.length, completion, 0, 0);
  }
  return -EINVAL;
}

// Not instrumented, so that no frame of librbd stands in TSan's stacks of our code
// (tests/support/tsan.supp).
__attribute__((no_sanitize("thread"), noinline)) void RbdQueue::completed(
    rbd_completion_t completion, void* slot) {
  finish(completion, *static_cast<Slot*>(slot));
}

__attribute__((noinline)) void RbdQueue::finish(rbd_completion_t completion, Slot& slot) noexcept {
  IoRequest* request = slot.request.exchange(nullptr, std::memory_order_acq_rel);
  CEPHMARK_CHECK(request, "librbd completed a request twice");
  request->completed_ns = monotonic_ns();
  request->result = result_of(*request, rbd_aio_get_return_value(completion));
  rbd_aio_release(completion);
  slot.queue->tell(*request);
}

// The library did not take the call and will not call back.
void RbdQueue::refuse(Slot& slot, int error) noexcept {
  IoRequest* request = slot.request.exchange(nullptr, std::memory_order_acq_rel);
  CEPHMARK_CHECK(request, "librbd refused a call and completed it too");
  request->completed_ns = monotonic_ns();
  request->result = error;
  tell(*request);
}

void RbdQueue::tell(IoRequest& request) noexcept {
  if (submitting != this) [[likely]] {
    ready_.ready(request);
    return;
  }
  pool_.run_soon([&ready = ready_, &request] { ready.ready(request); });
}

}  // namespace cephmark
