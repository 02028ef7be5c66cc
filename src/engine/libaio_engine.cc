// libaio: Linux native AIO. One context per worker; trims have no asynchronous form there and are
// done in place.

#include <fcntl.h>
#include <fmt/format.h>
#include <libaio.h>
#include <poll.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <fstream>

#include "base/error.h"
#include "base/time.h"
#include "engine/engines.h"
#include "engine/file_engine.h"
#include "engine/poll_until.h"

namespace cephmark {
namespace {

constexpr const char* kAioMaxNr = "/proc/sys/fs/aio-max-nr";
constexpr const char* kAioNr = "/proc/sys/fs/aio-nr";

uint64_t kernel_number(const char* path) {
  uint64_t value = 0;
  std::ifstream(path) >> value;
  return value;
}

Error no_room(uint64_t wanted) {
  const uint64_t most = kernel_number(kAioMaxNr), used = kernel_number(kAioNr);
  return Error(
      fmt::format("libaio: {} requests in flight are wanted, but of the kernel's {} for all "
                  "programs (fs.aio-max-nr) {} are taken (fs.aio-nr)",
                  wanted, most, used),
      fmt::format("sysctl -w fs.aio-max-nr={}, or a smaller iodepth or fewer jobs, or "
                  "ioengine=io_uring",
                  std::bit_ceil(used + wanted)));
}

// What all libaio jobs of a plan take, at least: said before anything is opened or laid out.
void check_room(const Plan& plan) {
  uint64_t wanted = 0;
  for (const VmPlan& vm : plan.vms)
    for (const JobSpec& job : vm.jobs)
      if (job.ioengine == "libaio")
        wanted += uint64_t{job.iodepth} * static_cast<uint64_t>(std::max(1, job.numjobs));
  const uint64_t most = kernel_number(kAioMaxNr);
  if (most != 0 && wanted + kernel_number(kAioNr) > most) throw no_room(wanted);
}

class LibaioPort : public Port {
 public:
  explicit LibaioPort(unsigned depth) : events_(depth + 1) {
    pending_.reserve(depth);
    finished_.reserve(depth);
    const int rc = io_setup(static_cast<int>(depth + 1), &context_);
    if (rc == -EAGAIN) throw no_room(depth + 1);
    if (rc < 0)
      throw Error(fmt::format("libaio: cannot set up a context for {} requests: {}", depth,
                              errno_text(rc)));
  }
  ~LibaioPort() override { io_destroy(context_); }

  void add(iocb& block) noexcept { pending_.push_back(&block); }
  void add_finished(IoRequest& request) noexcept {
    request.completed_ns = monotonic_ns();
    finished_.push_back(&request);
  }

  int flush() noexcept override {
    size_t head = 0;
    int rc = 0;
    while (head < pending_.size()) {
      rc = io_submit(context_, static_cast<long>(pending_.size() - head), &pending_[head]);
      if (rc > 0) {
        in_flight_ += rc;
        head += rc;
      } else if (rc == -EINTR) {
        continue;
      } else if (rc == -EAGAIN || rc == 0) {
        break;  // the kernel is full: offered again at the next flush
      } else {
        auto* request = static_cast<IoRequest*>(pending_[head++]->data);
        request->result = rc;
        add_finished(*request);
      }
    }
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<long>(head));
    return 0;
  }

  int reap(std::span<IoRequest*> out) noexcept override {
    size_t count = 0;
    while (!finished_.empty() && count < out.size()) {
      out[count++] = finished_.back();
      finished_.pop_back();
    }
    if (event_count_ == 0 && (in_flight_ > 0 || wake_armed_)) take_events(0, nullptr);
    while (event_count_ > 0 && count < out.size()) {
      const io_event& event = events_[--event_count_];
      auto* request = static_cast<IoRequest*>(event.data);
      if (!request) {  // the poll on the wake descriptor
        wake_armed_ = false;
        continue;
      }
      --in_flight_;
      request->result = static_cast<int64_t>(event.res);
      request->completed_ns = events_at_ns_;
      out[count++] = request;
    }
    return static_cast<int>(count);
  }

  void wait(int wake_fd, int64_t deadline_ns) noexcept override {
    flush();
    if (!finished_.empty() || event_count_ > 0) return;
    if (in_flight_ == 0 && pending_.empty()) return poll_until(wake_fd, deadline_ns);
    if (!wake_armed_) {
      io_prep_poll(&wake_block_, wake_fd, POLLIN);
      wake_block_.data = nullptr;
      iocb* blocks[] = {&wake_block_};
      wake_armed_ = io_submit(context_, 1, blocks) == 1;
    }
    // A kernel without IOCB_CMD_POLL (before 4.18) looks at the wake descriptor every millisecond
    // instead.
    const int64_t until_ns =
        wake_armed_ ? deadline_ns : std::min(deadline_ns, monotonic_ns() + kNsPerMs);
    timespec left = left_until(until_ns);
    take_events(1, &left);
  }

 private:
  void take_events(long at_least, timespec* timeout) noexcept {
    timespec none{};
    const int count = io_getevents(context_, at_least, static_cast<long>(events_.size()),
                                   events_.data(), timeout ? timeout : &none);
    event_count_ = std::max(0, count);
    if (event_count_) events_at_ns_ = monotonic_ns();
  }

  io_context_t context_ = nullptr;
  std::vector<iocb*> pending_;
  std::vector<IoRequest*> finished_;
  std::vector<io_event> events_;
  size_t event_count_ = 0;
  int64_t events_at_ns_ = 0;
  unsigned in_flight_ = 0;
  iocb wake_block_{};
  bool wake_armed_ = false;
};

class LibaioQueue : public IoQueue {
 public:
  LibaioQueue(LibaioPort& port, unsigned depth, FileCalls calls)
      : port_(port), blocks_(depth), calls_(std::move(calls)) {}

  int submit(std::span<IoRequest* const> batch) noexcept override {
    int64_t now_ns = 0;
    for (IoRequest* request : batch) {
      if (request->submitted_ns == 0)
        request->submitted_ns = now_ns ? now_ns : (now_ns = monotonic_ns());
      put(*request);
    }
    return static_cast<int>(batch.size());
  }

 private:
  void put(IoRequest& request) noexcept {
    iocb& block = blocks_[request.slot];
    const int fd = calls_.fd_of(request);
    switch (request.op) {
      case Op::kRead:
        io_prep_pread(&block, fd, request.buffer, request.length, request.offset);
        break;
      case Op::kWrite:
        io_prep_pwrite(&block, fd, request.buffer, request.length, request.offset);
        block.aio_rw_flags = calls_.write_flags();
        break;
      case Op::kFlush:
        if (calls_.data_only)
          io_prep_fdsync(&block, fd);
        else
          io_prep_fsync(&block, fd);
        break;
      case Op::kTrim:
      case Op::kWriteZeroes:
        request.result = do_blocking_discard(fd, calls_.is_block_device, request);
        return port_.add_finished(request);
    }
    block.data = &request;
    port_.add(block);
  }

  LibaioPort& port_;
  std::vector<iocb> blocks_;
  const FileCalls calls_;
};

class LibaioEngine : public FileEngine {
 public:
  using FileEngine::FileEngine;
  std::unique_ptr<IoQueue> make_queue(const QueueSetup& setup) override {
    return std::make_unique<LibaioQueue>(static_cast<LibaioPort&>(*setup.port), setup.depth,
                                         FileCalls(target(), setup));
  }
};

}  // namespace

std::unique_ptr<Engine> make_libaio_engine(const JobSpec& job, const EngineContext& context) {
  check_room(context.plan);
  return std::make_unique<LibaioEngine>(job, context);
}
std::unique_ptr<Port> make_libaio_port(unsigned depth, const JobSpec&) {
  return std::make_unique<LibaioPort>(depth);
}
std::span<const EngineOption> libaio_options() {
  return {};
}

}  // namespace cephmark
