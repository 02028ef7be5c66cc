#include "engine/rados_bench_queue.h"

#include <cerrno>

#include "base/check.h"
#include "base/time.h"

namespace cephmark {
namespace {

// The queue whose submit() is on this thread's stack: a completion from inside it is not told
// there.
thread_local const void* in_bench_submit = nullptr;

// As `rados bench` gives them: the objects are written once, in order, and read the same way.
constexpr uint32_t kHintFlags =
    LIBRADOS_ALLOC_HINT_FLAG_SEQUENTIAL_WRITE | LIBRADOS_ALLOC_HINT_FLAG_SEQUENTIAL_READ |
    LIBRADOS_ALLOC_HINT_FLAG_APPEND_ONLY | LIBRADOS_ALLOC_HINT_FLAG_IMMUTABLE;

}  // namespace

RadosBenchQueue::RadosBenchQueue(rados_ioctx_t io, ConnectionPool& pool, const QueueSetup& setup,
                                 const BenchQueueSettings& settings, BenchProgress& progress)
    : io_(io),
      pool_(pool),
      ready_(*setup.ready),
      settings_(settings),
      progress_(progress),
      namer_(settings.prefix),
      slots_(setup.depth) {
  for (auto& slot : slots_) slot.queue = this;
  for (const auto& buffer : setup.buffers) fill_bench_buffer(buffer);
}

int RadosBenchQueue::submit(std::span<IoRequest* const> batch) noexcept {
  in_bench_submit = this;
  for (IoRequest* request : batch) {
    Slot& slot = slots_[request->slot];
    if (request->submitted_ns == 0) request->submitted_ns = monotonic_ns();
    slot.request.store(request, std::memory_order_release);
    rados_completion_t completion = nullptr;
    int r = rados_aio_create_completion2(&slot, &RadosBenchQueue::completed, &completion);
    if (r == 0) {
      // From here on the request may be completed and used again by another thread.
      r = start(*request, completion);
      if (r < 0) rados_aio_release(completion);
    }
    if (r < 0) end(slot, r);  // the library did not take the call and will not call back
  }
  in_bench_submit = nullptr;
  return static_cast<int>(batch.size());
}

int RadosBenchQueue::start(IoRequest& request, rados_completion_t completion) noexcept {
  if (request.op == Op::kFlush) return rados_aio_flush_async(io_, completion);
  const BenchLayout& layout = settings_.layout;
  const uint64_t op = request.offset / layout.op_size_bytes;
  if (request.op == Op::kWrite) return start_write(request, op, completion);
  if (request.op != Op::kRead) return -EOPNOTSUPP;
  return rados_aio_read(io_, namer_.name_of(layout.object_of(op)), completion,
                        reinterpret_cast<char*>(request.buffer), request.length,
                        layout.offset_of(op));
}

int RadosBenchQueue::start_write(IoRequest& request, uint64_t op,
                                 rados_completion_t completion) noexcept {
  const BenchLayout& layout = settings_.layout;
  progress_.sending(op);
  stamp_bench_op({request.buffer, request.length}, op);
  const char* const name = namer_.name_of(layout.object_of(op));
  const char* const data = reinterpret_cast<const char*>(request.buffer);
  if (!settings_.hints)
    return rados_aio_write(io_, name, completion, data, request.length, layout.offset_of(op));
  rados_write_op_t write = rados_create_write_op();
  rados_write_op_set_alloc_hint2(write, layout.object_size_bytes, layout.op_size_bytes, kHintFlags);
  rados_write_op_write(write, data, request.length, layout.offset_of(op));
  const int r = rados_aio_write_op_operate(write, io_, completion, name, nullptr, 0);
  rados_release_write_op(write);
  return r;
}

// Not instrumented, so that no frame of librados stands in TSan's stacks of our code
// (tests/support/tsan.supp).
__attribute__((no_sanitize("thread"), noinline)) void RadosBenchQueue::completed(
    rados_completion_t completion, void* slot) {
  finish(completion, *static_cast<Slot*>(slot));
}

__attribute__((noinline)) void RadosBenchQueue::finish(rados_completion_t completion,
                                                       Slot& slot) noexcept {
  const int64_t value = rados_aio_get_return_value(completion);
  rados_aio_release(completion);
  slot.queue->end(slot, value);
}

// A read that is not the op in full is EILSEQ: never a short read, whose rest would be asked for.
int64_t RadosBenchQueue::judge(const IoRequest& request, int64_t value) noexcept {
  if (request.op == Op::kFlush) return value;
  const uint64_t op = request.offset / settings_.layout.op_size_bytes;
  if (request.op == Op::kWrite) {
    if (value < 0) {
      progress_.failed(op);
      return value;
    }
    progress_.wrote(op);
    return static_cast<int64_t>(request.length);
  }
  if (value < 0) return value;
  if (static_cast<uint64_t>(value) != request.length) return -EILSEQ;
  if (settings_.verify && !is_bench_op({request.buffer, request.length}, op)) return -EILSEQ;
  return value;
}

void RadosBenchQueue::end(Slot& slot, int64_t value) noexcept {
  IoRequest* request = slot.request.exchange(nullptr, std::memory_order_acq_rel);
  CEPHMARK_CHECK(request, "librados completed a request twice");
  request->completed_ns = monotonic_ns();
  request->result = judge(*request, value);  // after the stamp: checking is not the cluster's time
  if (in_bench_submit != this) [[likely]] {
    ready_.ready(*request);
    return;
  }
  pool_.run_soon([&ready = ready_, request] { ready.ready(*request); });
}

}  // namespace cephmark
