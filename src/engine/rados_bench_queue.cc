#include "engine/rados_bench_queue.h"

#include <cerrno>

namespace cephmark {
namespace {

// As `rados bench` gives them: the objects are written once, in order, and read the same way.
constexpr uint32_t kHintFlags =
    LIBRADOS_ALLOC_HINT_FLAG_SEQUENTIAL_WRITE | LIBRADOS_ALLOC_HINT_FLAG_SEQUENTIAL_READ |
    LIBRADOS_ALLOC_HINT_FLAG_APPEND_ONLY | LIBRADOS_ALLOC_HINT_FLAG_IMMUTABLE;

}  // namespace

RadosBenchQueue::RadosBenchQueue(rados_ioctx_t io, ConnectionPool& pool, const QueueSetup& setup,
                                 const BenchQueueSettings& settings, BenchProgress& progress)
    : RadosCallQueue(io, pool, setup),
      settings_(settings),
      progress_(progress),
      namer_(settings.prefix) {
  for (const auto& buffer : setup.buffers) fill_bench_buffer(buffer);
}

int RadosBenchQueue::start(IoRequest& request, rados_completion_t completion) noexcept {
  if (request.op == Op::kFlush) return rados_aio_flush_async(io(), completion);
  const BenchLayout& layout = settings_.layout;
  const uint64_t op = request.offset / layout.op_size_bytes;
  if (request.op == Op::kWrite) return start_write(request, op, completion);
  if (request.op != Op::kRead) return -EOPNOTSUPP;
  return rados_aio_read(io(), namer_.name_of(layout.object_of(op)), completion,
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
    return rados_aio_write(io(), name, completion, data, request.length, layout.offset_of(op));
  rados_write_op_t write = rados_create_write_op();
  rados_write_op_set_alloc_hint2(write, layout.object_size_bytes, layout.op_size_bytes, kHintFlags);
  rados_write_op_write(write, data, request.length, layout.offset_of(op));
  const int r = rados_aio_write_op_operate(write, io(), completion, name, nullptr, 0);
  rados_release_write_op(write);
  return r;
}

// A read that is not the op in full is EILSEQ: never a short read, whose rest would be asked for.
int64_t RadosBenchQueue::result_of(const IoRequest& request, int64_t value) noexcept {
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

}  // namespace cephmark
