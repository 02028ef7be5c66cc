#include "engine/io_uring_port.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "base/time.h"
#include "engine/poll_until.h"

namespace cephmark {
namespace {

constexpr unsigned kRegisteredFiles = 4096;
constexpr unsigned kSqThreadIdle_ms = 1000;

}  // namespace

IoUringPort::IoUringPort(const RingSetup& setup) : setup_(setup) {
  finished_.reserve(setup.depth);
  io_uring_params params{};
  const unsigned needed = IORING_SETUP_CLAMP | (setup.polled ? IORING_SETUP_IOPOLL : 0) |
                          (setup.kernel_thread ? IORING_SETUP_SQPOLL : 0);
  params.flags = needed;
  // No interrupt of this thread: it comes by to reap. (A kernel thread has no use for that.)
  if (!setup.kernel_thread) params.flags |= IORING_SETUP_COOP_TASKRUN;
  params.sq_thread_idle = setup.kernel_thread ? kSqThreadIdle_ms : 0;
  int rc = io_uring_queue_init_params(setup.depth + 1, &ring_, &params);
  if (rc == -EINVAL && !setup.kernel_thread) {  // before 5.19
    params = {};
    params.flags = needed;
    rc = io_uring_queue_init_params(setup.depth + 1, &ring_, &params);
  }
  if (rc < 0)
    throw Error(fmt::format("io_uring: cannot set up a ring for {} requests: {}", setup.depth,
                            errno_text(rc)),
                rc == -EPERM || rc == -ENOSYS
                    ? "io_uring is switched off here (sysctl "
                      "kernel.io_uring_disabled, or a container's seccomp "
                      "profile): use ioengine=libaio"
                    : "");
  has_file_table_ =
      setup.register_files && io_uring_register_files_sparse(&ring_, kRegisteredFiles) == 0;
}

int IoUringPort::register_file(int fd) {
  if (!has_file_table_ || next_file_ == kRegisteredFiles) return -1;
  if (io_uring_register_files_update(&ring_, next_file_, &fd, 1) != 1) return -1;
  return static_cast<int>(next_file_++);
}

unsigned IoUringPort::register_buffers(const std::vector<std::span<std::byte>>& buffers) {
  const auto must = [&](int rc) {
    if (rc >= 0) return;
    throw Error(fmt::format("fixedbufs: cannot register {} buffers with the ring: {}",
                            buffers.size(), errno_text(rc)),
                rc == -ENOMEM ? "raise the locked-memory limit (ulimit -l), or leave fixedbufs out"
                              : "leave fixedbufs out");
  };
  if (!has_buffer_table_) must(io_uring_register_buffers_sparse(&ring_, setup_.depth));
  has_buffer_table_ = true;
  std::vector<iovec> vectors;
  for (const auto& buffer : buffers) vectors.push_back({buffer.data(), buffer.size()});
  const std::vector<__u64> tags(vectors.size(), 0);
  must(io_uring_register_buffers_update_tag(&ring_, next_buffer_, vectors.data(), tags.data(),
                                            static_cast<unsigned>(vectors.size())));
  const unsigned first = next_buffer_;
  next_buffer_ += static_cast<unsigned>(vectors.size());
  return first;
}

io_uring_sqe* IoUringPort::next_entry() noexcept {
  io_uring_sqe* entry = io_uring_get_sqe(&ring_);
  if (!entry) {
    io_uring_submit(&ring_);
    entry = io_uring_get_sqe(&ring_);
  }
  return entry;
}

void IoUringPort::add_finished(IoRequest& request) noexcept {
  request.completed_ns = monotonic_ns();
  finished_.push_back(&request);
}

int IoUringPort::flush() noexcept {
  if (!unsubmitted_) return 0;
  const int rc = io_uring_submit(&ring_);
  unsubmitted_ = io_uring_sq_ready(&ring_) > 0;
  return rc < 0 && rc != -EAGAIN && rc != -EBUSY && rc != -EINTR ? rc : 0;
}

int IoUringPort::reap(std::span<IoRequest*> out) noexcept {
  size_t count = 0;
  while (!finished_.empty() && count < out.size()) {
    out[count++] = finished_.back();
    finished_.pop_back();
  }
  if (setup_.polled && in_flight_ > 0 && io_uring_cq_ready(&ring_) == 0) {
    // Only a thread that asks gets to see completions of a polled ring.
    io_uring_get_events(&ring_);
  }
  unsigned head = 0, seen = 0;
  io_uring_cqe* event = nullptr;
  int64_t now_ns = 0;
  io_uring_for_each_cqe(&ring_, head, event) {
    if (count == out.size()) break;
    ++seen;
    auto* request = static_cast<IoRequest*>(io_uring_cqe_get_data(event));
    if (!request) {  // the poll on the wake descriptor
      wake_armed_ = false;
      continue;
    }
    if (now_ns == 0) now_ns = monotonic_ns();
    --in_flight_;
    const bool whole =
        event->res == 0 && (request->op == Op::kTrim || request->op == Op::kWriteZeroes);
    request->result = whole ? static_cast<int64_t>(request->length) : event->res;
    request->completed_ns = now_ns;
    out[count++] = request;
  }
  io_uring_cq_advance(&ring_, seen);
  return static_cast<int>(count);
}

void IoUringPort::wait(int wake_fd, int64_t deadline_ns) noexcept {
  if (!finished_.empty()) return;
  if (in_flight_ == 0) return poll_until(wake_fd, deadline_ns);
  if (setup_.polled) {  // no sleep: polling the device is what hipri asks for
    flush();
    return;
  }
  if (!wake_armed_) {
    io_uring_sqe* entry = next_entry();
    if (!entry) return;
    io_uring_prep_poll_add(entry, wake_fd, POLLIN);
    io_uring_sqe_set_data(entry, nullptr);
    wake_armed_ = true;
  }
  const timespec left = left_until(deadline_ns);
  __kernel_timespec timeout{.tv_sec = left.tv_sec, .tv_nsec = left.tv_nsec};
  io_uring_cqe* event = nullptr;
  io_uring_submit_and_wait_timeout(&ring_, &event, 1, &timeout, nullptr);
  unsubmitted_ = io_uring_sq_ready(&ring_) > 0;
}

}  // namespace cephmark
