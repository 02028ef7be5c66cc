// io_uring: one ring per worker. Files are registered with the ring; everything but a block
// device's trim is asynchronous.

#include <fcntl.h>
#include <fmt/format.h>
#include <liburing.h>
#include <linux/falloc.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "base/time.h"
#include "engine/engines.h"
#include "engine/file_engine.h"
#include "engine/poll_until.h"

namespace cephmark {
namespace {

constexpr EngineOption kOptions[] = {
    {.name = "fixedbufs",
     .kind = EngineOption::Kind::kFlag,
     .default_value = "0",
     .help = "map the I/O buffers into the kernel once, ahead of the run"},
    {.name = "registerfiles",
     .kind = EngineOption::Kind::kFlag,
     .default_value = "1",
     .help = "register the files with the ring (always done where the kernel can)"},
    {.name = "sqthread_poll",
     .kind = EngineOption::Kind::kFlag,
     .default_value = "0",
     .help = "a kernel thread takes the submissions (it costs a CPU, which is counted)"},
    {.name = "force_async",
     .kind = EngineOption::Kind::kFlag,
     .default_value = "0",
     .help = "ask the kernel not to try each I/O in place first"},
    {.name = "nonvectored",
     .kind = EngineOption::Kind::kInteger,
     .default_value = "-1",
     .min = -1,
     .max = 1,
     .help = "accepted: reads and writes are never vectored here"},
};
constexpr unsigned kRegisteredFiles = 4096;
constexpr unsigned kSqThreadIdle_ms = 1000;

bool flag(const JobSpec* job, const char* name) {
  if (!job) return false;
  const auto found = job->engine_options.find(name);
  return found != job->engine_options.end() && found->second != "0" && found->second != "false";
}

class IoUringPort : public Port {
 public:
  IoUringPort(unsigned depth, bool kernel_thread) {
    finished_.reserve(depth);
    io_uring_params params{};
    params.flags = IORING_SETUP_CLAMP;
    if (kernel_thread) {
      params.flags |= IORING_SETUP_SQPOLL;
      params.sq_thread_idle = kSqThreadIdle_ms;
    } else {
      params.flags |=
          IORING_SETUP_COOP_TASKRUN;  // no interrupt of this thread: it comes by to reap
    }
    int rc = io_uring_queue_init_params(depth + 1, &ring_, &params);
    if (rc == -EINVAL && !kernel_thread) {  // before 5.19
      params = {};
      rc = io_uring_queue_init_params(depth + 1, &ring_, &params);
    }
    if (rc < 0)
      throw Error(
          fmt::format("io_uring: cannot set up a ring for {} requests: {}", depth, errno_text(rc)),
          rc == -EPERM || rc == -ENOSYS ? "io_uring is switched off here (sysctl "
                                          "kernel.io_uring_disabled, or a container's seccomp "
                                          "profile): use ioengine=libaio"
                                        : "");
    has_file_table_ = io_uring_register_files_sparse(&ring_, kRegisteredFiles) == 0;
  }
  ~IoUringPort() override { io_uring_queue_exit(&ring_); }

  /// Index in the ring's file table, or -1 when it has none or is full.
  int register_file(int fd) {
    if (!has_file_table_ || next_file_ == kRegisteredFiles) return -1;
    if (io_uring_register_files_update(&ring_, next_file_, &fd, 1) != 1) return -1;
    return static_cast<int>(next_file_++);
  }
  /// The buffers of one lane; a ring has one table, so only the first lane's can be registered.
  bool register_buffers(const std::vector<std::span<std::byte>>& buffers) {
    if (has_buffers_ || buffers.empty()) return false;
    std::vector<iovec> vectors;
    for (const auto& buffer : buffers) vectors.push_back({buffer.data(), buffer.size()});
    has_buffers_ = io_uring_register_buffers(&ring_, vectors.data(),
                                             static_cast<unsigned>(vectors.size())) == 0;
    return has_buffers_;
  }

  io_uring_sqe* next_entry() noexcept {
    io_uring_sqe* entry = io_uring_get_sqe(&ring_);
    if (!entry) {
      io_uring_submit(&ring_);
      entry = io_uring_get_sqe(&ring_);
    }
    return entry;
  }
  void count_in() noexcept {
    ++in_flight_;
    unsubmitted_ = true;
  }
  void add_finished(IoRequest& request) noexcept {
    request.completed_ns = monotonic_ns();
    finished_.push_back(&request);
  }

  int flush() noexcept override {
    if (!unsubmitted_) return 0;
    const int rc = io_uring_submit(&ring_);
    unsubmitted_ = io_uring_sq_ready(&ring_) > 0;
    return rc < 0 && rc != -EAGAIN && rc != -EBUSY && rc != -EINTR ? rc : 0;
  }

  int reap(std::span<IoRequest*> out) noexcept override {
    size_t count = 0;
    while (!finished_.empty() && count < out.size()) {
      out[count++] = finished_.back();
      finished_.pop_back();
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

  void wait(int wake_fd, int64_t deadline_ns) noexcept override {
    if (!finished_.empty()) return;
    if (in_flight_ == 0) return poll_until(wake_fd, deadline_ns);
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

 private:
  io_uring ring_{};
  std::vector<IoRequest*> finished_;
  unsigned in_flight_ = 0;
  unsigned next_file_ = 0;
  bool unsubmitted_ = false;
  bool wake_armed_ = false;
  bool has_file_table_ = false;
  bool has_buffers_ = false;
};

struct QueueFile {
  int fd = -1;
  int registered = -1;
};

class IoUringQueue : public IoQueue {
 public:
  IoUringQueue(IoUringPort& port, const QueueSetup& setup, const std::vector<int>& fds,
               bool is_block_device)
      : port_(port),
        is_block_device_(is_block_device),
        data_only_(setup.job && setup.job->fdatasync > 0),
        entry_flags_(flag(setup.job, "force_async") ? IOSQE_ASYNC : 0) {
    for (int fd : fds) files_.push_back({fd, port.register_file(fd)});
    fixed_buffers_ = flag(setup.job, "fixedbufs") && port.register_buffers(setup.buffers);
  }

  int submit(std::span<IoRequest* const> batch) noexcept override {
    int accepted = 0;
    int64_t now_ns = 0;
    for (IoRequest* request : batch) {
      if (request->submitted_ns == 0)
        request->submitted_ns = now_ns ? now_ns : (now_ns = monotonic_ns());
      if (!put(*request)) break;
      ++accepted;
    }
    return accepted;
  }

 private:
  bool put(IoRequest& request) noexcept {
    const QueueFile file = request.file < files_.size() ? files_[request.file] : QueueFile{};
    if ((request.op == Op::kTrim || request.op == Op::kWriteZeroes) && is_block_device_) {
      request.result = do_blocking_discard(file.fd, true, request);
      port_.add_finished(request);
      return true;
    }
    io_uring_sqe* entry = port_.next_entry();
    if (!entry) return false;
    const int fd = file.registered >= 0 ? file.registered : file.fd;
    const auto length = static_cast<unsigned>(request.length);
    const auto slot = static_cast<int>(request.slot);
    switch (request.op) {
      case Op::kRead:
        if (fixed_buffers_)
          io_uring_prep_read_fixed(entry, fd, request.buffer, length, request.offset, slot);
        else
          io_uring_prep_read(entry, fd, request.buffer, length, request.offset);
        break;
      case Op::kWrite:
        if (fixed_buffers_)
          io_uring_prep_write_fixed(entry, fd, request.buffer, length, request.offset, slot);
        else
          io_uring_prep_write(entry, fd, request.buffer, length, request.offset);
        break;
      case Op::kFlush:
        io_uring_prep_fsync(entry, fd, data_only_ ? IORING_FSYNC_DATASYNC : 0);
        break;
      case Op::kTrim:
      case Op::kWriteZeroes:
        io_uring_prep_fallocate(
            entry, fd,
            FALLOC_FL_KEEP_SIZE |
                (request.op == Op::kTrim ? FALLOC_FL_PUNCH_HOLE : FALLOC_FL_ZERO_RANGE),
            request.offset, request.length);
        break;
    }
    entry->flags |= entry_flags_ | (file.registered >= 0 ? IOSQE_FIXED_FILE : 0);
    io_uring_sqe_set_data(entry, &request);
    port_.count_in();
    return true;
  }

  IoUringPort& port_;
  std::vector<QueueFile> files_;
  const bool is_block_device_;
  const bool data_only_;
  const unsigned char entry_flags_;
  bool fixed_buffers_ = false;
};

class IoUringEngine : public FileEngine {
 public:
  using FileEngine::FileEngine;
  std::unique_ptr<IoQueue> make_queue(const QueueSetup& setup) override {
    return std::make_unique<IoUringQueue>(static_cast<IoUringPort&>(*setup.port), setup,
                                          target().clone_fds(setup.clone),
                                          target().clone_has_block_device(setup.clone));
  }
};

}  // namespace

std::unique_ptr<Engine> make_io_uring_engine(const JobSpec& job, const EngineContext& context) {
  return std::make_unique<IoUringEngine>(job, context);
}
std::unique_ptr<Port> make_io_uring_port(unsigned depth, const JobSpec& job) {
  return std::make_unique<IoUringPort>(depth, flag(&job, "sqthread_poll"));
}
std::span<const EngineOption> io_uring_options() {
  return kOptions;
}

}  // namespace cephmark
