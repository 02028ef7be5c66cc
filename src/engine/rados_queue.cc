#include "engine/rados_queue.h"

#include <cerrno>

namespace cephmark {

RadosQueue::RadosQueue(rados_ioctx_t io, ConnectionPool& pool, const QueueSetup& setup,
                       std::vector<std::string> names)
    : RadosCallQueue(io, pool, setup), names_(std::move(names)) {}

int RadosQueue::start(IoRequest& request, rados_completion_t completion) noexcept {
  if (request.op == Op::kFlush) return rados_aio_flush_async(io(), completion);
  if (request.file >= names_.size()) return -EINVAL;
  const char* name = names_[request.file].c_str();
  char* data = reinterpret_cast<char*>(request.buffer);
  if (request.op == Op::kRead)
    return rados_aio_read(io(), name, completion, data, request.length, request.offset);
  if (request.op == Op::kWrite)
    return rados_aio_write(io(), name, completion, data, request.length, request.offset);
  rados_write_op_t zero = rados_create_write_op();
  rados_write_op_zero(zero, request.offset, request.length);
  const int r = rados_aio_write_op_operate(zero, io(), completion, name, nullptr, 0);
  rados_release_write_op(zero);
  return r;
}

int64_t RadosQueue::result_of(const IoRequest& request, int64_t value) noexcept {
  const bool whole = value >= 0 && request.op != Op::kRead && request.op != Op::kFlush;
  return whole ? static_cast<int64_t>(request.length) : value;
}

}  // namespace cephmark
