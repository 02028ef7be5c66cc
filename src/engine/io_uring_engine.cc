// io_uring: one ring per worker (io_uring_port.h). Files are registered with the ring; everything
// is asynchronous but a block device's trim and, with hipri, flushes and discards.

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/falloc.h>

#include <charconv>

#include "base/error.h"
#include "base/time.h"
#include "engine/engines.h"
#include "engine/file_engine.h"
#include "engine/io_uring_port.h"

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
     .help = "register the files with the ring where the kernel can (fio's default is not to)"},
    {.name = "hipri",
     .kind = EngineOption::Kind::kFlag,
     .default_value = "0",
     .help = "poll the device for completions instead of sleeping (needs direct=1)"},
    {.name = "sqthread_poll",
     .kind = EngineOption::Kind::kFlag,
     .default_value = "0",
     .help = "a kernel thread takes the submissions (it costs a CPU, which is counted)"},
    {.name = "force_async",
     .kind = EngineOption::Kind::kInteger,
     .default_value = "0",
     .min = 0,
     .max = INT32_MAX,
     .help = "every N-th I/O goes to the kernel's workers without being tried in place (0: none, "
             "but on file systems where the kernel cannot try)"},
    {.name = "nonvectored",
     .kind = EngineOption::Kind::kInteger,
     .default_value = "-1",
     .min = -1,
     .max = 1,
     .help = "accepted: reads and writes are never vectored here"},
};

uint64_t number(const JobSpec* job, const char* name, uint64_t otherwise = 0) {
  if (!job) return otherwise;
  const auto found = job->engine_options.find(name);
  if (found == job->engine_options.end()) return otherwise;
  uint64_t value = otherwise;
  std::from_chars(found->second.data(), found->second.data() + found->second.size(), value);
  return value;
}

bool flag(const JobSpec* job, const char* name, bool otherwise = false) {
  return number(job, name, otherwise) != 0;
}

struct QueueFile {
  int fd = -1;
  int registered = -1;
};

class IoUringQueue : public IoQueue {
 public:
  IoUringQueue(IoUringPort& port, const QueueSetup& setup, FileCalls calls)
      : port_(port), calls_(std::move(calls)), async_every_(number(setup.job, "force_async")) {
    for (int fd : calls_.fds) files_.push_back({fd, port.register_file(fd)});
    fixed_buffers_ = flag(setup.job, "fixedbufs") && !setup.buffers.empty();
    if (fixed_buffers_) first_buffer_ = port.register_buffers(setup.buffers);
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
    const bool is_discard = request.op == Op::kTrim || request.op == Op::kWriteZeroes;
    const bool has_data = request.op == Op::kRead || request.op == Op::kWrite;
    if ((is_discard && calls_.is_block_device) || (port_.polled() && !has_data)) {
      request.result = do_blocking(calls_, request);
      port_.add_finished(request);
      return true;
    }
    io_uring_sqe* entry = port_.next_entry();
    if (!entry) return false;
    const int fd = file.registered >= 0 ? file.registered : file.fd;
    const auto length = static_cast<unsigned>(request.length);
    const auto slot = static_cast<int>(first_buffer_ + request.slot);
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
        entry->rw_flags = calls_.write_flags();
        break;
      case Op::kFlush:
        io_uring_prep_fsync(entry, fd, calls_.data_only ? IORING_FSYNC_DATASYNC : 0);
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
    bool to_worker = false;
    if (async_every_ != 0 && ++prepared_ == async_every_) {
      prepared_ = 0;
      to_worker = true;
    }
    entry->flags |= (to_worker ? IOSQE_ASYNC : 0) | (file.registered >= 0 ? IOSQE_FIXED_FILE : 0);
    io_uring_sqe_set_data(entry, &request);
    port_.count_in();
    return true;
  }

  IoUringPort& port_;
  std::vector<QueueFile> files_;
  const FileCalls calls_;
  const uint64_t async_every_;
  uint64_t prepared_ = 0;
  bool fixed_buffers_ = false;
  unsigned first_buffer_ = 0;
};

class IoUringEngine : public FileEngine {
 public:
  using FileEngine::FileEngine;
  std::unique_ptr<IoQueue> make_queue(const QueueSetup& setup) override {
    return std::make_unique<IoUringQueue>(static_cast<IoUringPort&>(*setup.port), setup,
                                          FileCalls(target(), setup));
  }
};

}  // namespace

std::unique_ptr<Engine> make_io_uring_engine(const JobSpec& job, const EngineContext& context) {
  if (flag(&job, "hipri") && !job.direct)
    throw UsageError(
        fmt::format("job {} ({}): hipri polls the device, but without direct=1 I/O ends in the "
                    "page cache",
                    job.name, job.source),
        "add direct=1, or leave hipri out");
  return std::make_unique<IoUringEngine>(job, context);
}
std::unique_ptr<Port> make_io_uring_port(unsigned depth, const JobSpec& job) {
  return std::make_unique<IoUringPort>(
      RingSetup{.depth = depth,
                .kernel_thread = flag(&job, "sqthread_poll"),
                .polled = flag(&job, "hipri"),
                .register_files = flag(&job, "registerfiles", true)});
}
std::span<const EngineOption> io_uring_options() {
  return kOptions;
}

}  // namespace cephmark
