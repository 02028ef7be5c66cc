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
      seed_(bench_seed(settings.prefix)),
      progress_(progress),
      namer_(settings.prefix),
      reads_(settings.parts.only_object() ? 0 : setup.depth) {
  for (const auto& buffer : setup.buffers) fill_bench_buffer(buffer);
}

int RadosBenchQueue::start(IoRequest& request, rados_completion_t completion) noexcept {
  if (request.op == Op::kFlush) return rados_aio_flush_async(io(), completion);
  const uint64_t op = request.offset / settings_.layout.op_size_bytes;
  if (request.op == Op::kWrite) return start_write(request, op, completion);
  if (request.op == Op::kRead) return start_read(request, op, completion);
  return -EOPNOTSUPP;
}

// A pool that is full refuses the write at once: without FULL_TRY librados would wait until there
// is room again.
int RadosBenchQueue::start_write(IoRequest& request, uint64_t op,
                                 rados_completion_t completion) noexcept {
  const BenchLayout& layout = settings_.layout;
  progress_.sending(op);
  if (settings_.contents == BenchContents::kRandom)
    fill_random_op({request.buffer, request.length}, seed_, op);
  else
    stamp_bench_op({request.buffer, request.length}, op);
  rados_write_op_t write = rados_create_write_op();
  if (settings_.hints)
    rados_write_op_set_alloc_hint2(write, layout.object_size_bytes, layout.op_size_bytes,
                                   kHintFlags);
  add_bench_writes(write, settings_.parts, layout.offset_of(op),
                   {reinterpret_cast<const char*>(request.buffer), request.length});
  const int r =
      rados_aio_write_op_operate(write, io(), completion, namer_.name_of(layout.object_of(op)),
                                 nullptr, LIBRADOS_OPERATION_FULL_TRY);
  rados_release_write_op(write);
  return r;
}

int RadosBenchQueue::start_read(IoRequest& request, uint64_t op,
                                rados_completion_t completion) noexcept {
  const BenchLayout& layout = settings_.layout;
  const char* const name = namer_.name_of(layout.object_of(op));
  char* const data = reinterpret_cast<char*>(request.buffer);
  if (settings_.parts.only_object())
    return rados_aio_read(io(), name, completion, data, request.length, layout.offset_of(op));
  rados_read_op_t read =
      reads_[request.slot].begin(settings_.parts, layout.offset_of(op), {data, request.length});
  return rados_aio_read_op_operate(read, io(), completion, name, 0);
}

bool RadosBenchQueue::is_as_written(std::span<const std::byte> bytes, uint64_t op) const noexcept {
  if (!settings_.verify) return true;
  return settings_.contents == BenchContents::kRandom ? is_random_op(bytes, seed_, op)
                                                      : is_bench_op(bytes, op);
}

// A read that is not the op in full is EILSEQ: never a short read, whose rest would be asked for.
int64_t RadosBenchQueue::result_of(const IoRequest& request, int64_t value) noexcept {
  if (request.op == Op::kFlush) return value;
  const uint64_t op = request.offset / settings_.layout.op_size_bytes;
  const auto length = static_cast<int64_t>(request.length);
  if (request.op == Op::kWrite) {
    if (value < 0) {
      progress_.failed(op);
      return value;
    }
    progress_.wrote(op);
    return length;
  }
  const BenchParts& parts = settings_.parts;
  if (!parts.only_object()) {
    const int error = reads_[request.slot].finish(
        parts, settings_.layout.offset_of(op), request.length,
        [&](std::span<const char> bytes) { return is_as_written(std::as_bytes(bytes), op); });
    if (value < 0 || error < 0) return value < 0 ? value : error;
    if (!parts.object) return length;
  } else if (value != length) {
    return value < 0 ? value : -EILSEQ;
  }
  return is_as_written({request.buffer, request.length}, op) ? length : -EILSEQ;
}

}  // namespace cephmark
