// mmap: files and block devices mapped into memory, one copy per request, in the lane's own thread.
// What a copy cannot be given (the file became shorter, no space behind a hole, a bad sector)
// arrives as a signal; here it becomes an error of that request.

#include <fmt/format.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstring>
#include <mutex>

#include "base/error.h"
#include "base/time.h"
#include "engine/engines.h"
#include "engine/file_engine.h"

namespace cephmark {
namespace {

/// Where the copy under way goes on when its memory cannot be had.
thread_local sigjmp_buf* volatile landing = nullptr;
struct sigaction before_us;

void on_bus_error(int signal, siginfo_t*, void* context) {
  if (landing) {
    // The jump leaves the handler for good: what the kernel blocked for it is let go here, which is
    // cheaper than to save the mask ahead of every copy.
    pthread_sigmask(SIG_SETMASK, &static_cast<ucontext_t*>(context)->uc_sigmask, nullptr);
    siglongjmp(*landing, 1);
  }
  ::sigaction(signal, &before_us, nullptr);  // not ours: it comes again, and finds its old handler
}

void hear_bus_errors() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    if (::sigaction(SIGBUS, &action, &before_us) != 0)
      throw Error(fmt::format("mmap: cannot set a signal handler: {}", errno_text(errno)));
  });
}

int64_t copy_guarded(void* to, const void* from, size_t bytes) noexcept {
  sigjmp_buf here;
  if (sigsetjmp(here, 0) != 0) {
    landing = nullptr;
    return -EIO;
  }
  landing = &here;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  std::memcpy(to, from, bytes);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  landing = nullptr;
  return static_cast<int64_t>(bytes);
}

class Mapping {
 public:
  Mapping(const OpenFile& file, bool writes) : bytes_(file.size_bytes) {
    void* at = ::mmap(nullptr, bytes_, PROT_READ | (writes ? PROT_WRITE : 0), MAP_SHARED,
                      file.fd.get(), 0);
    if (at == MAP_FAILED)
      throw Error(fmt::format("cannot map {} ({} bytes) into memory: {}", file.path, bytes_,
                              errno_text(errno)),
                  "use ioengine=psync, or smaller files");
    data_ = static_cast<std::byte*>(at);
  }
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  ~Mapping() {
    if (data_) ::munmap(data_, bytes_);
  }
  std::byte* at(uint64_t offset) const noexcept { return data_ + offset; }
  /// How much of a request lies within the file: a mapping does not grow.
  uint64_t within(const IoRequest& request) const noexcept {
    return request.offset >= bytes_ ? 0 : std::min(request.length, bytes_ - request.offset);
  }
  int flush() const noexcept { return ::msync(data_, bytes_, MS_SYNC) == 0 ? 0 : -errno; }

 private:
  std::byte* data_ = nullptr;
  uint64_t bytes_;
};

class MmapQueue : public IoQueue {
 public:
  MmapQueue(FileCalls calls, std::span<const Mapping> files)
      : calls_(std::move(calls)), files_(files) {}

  // One at a time: its caller looks at the clock and at failures between them.
  int submit(std::span<IoRequest* const> batch) noexcept override {
    IoRequest& request = *batch.front();
    if (request.submitted_ns == 0) request.submitted_ns = monotonic_ns();
    request.result = request.file < files_.size() ? carry_out(request) : -EBADF;
    request.completed_ns = monotonic_ns();
    return 1;
  }

 private:
  int64_t carry_out(const IoRequest& request) noexcept {
    const Mapping& file = files_[request.file];
    if (request.op == Op::kFlush) return file.flush();
    if (request.op != Op::kRead && request.op != Op::kWrite)
      return do_blocking_discard(calls_.fd_of(request), calls_.is_block_device, request);
    const uint64_t bytes = file.within(request);
    std::byte* const place = file.at(request.offset);
    if (request.op == Op::kRead) return copy_guarded(request.buffer, place, bytes);
    if (bytes < request.length) return -EFBIG;
    const int64_t result = copy_guarded(place, request.buffer, bytes);
    if (result < 0 || !calls_.flush_each_write) return result;
    const int error = file.flush();
    return error < 0 ? error : result;
  }

  const FileCalls calls_;
  const std::span<const Mapping> files_;
};

class MmapEngine : public FileEngine {
 public:
  using FileEngine::FileEngine;
  TargetInfo open() override {
    hear_bus_errors();
    TargetInfo info = FileEngine::open();
    for (const OpenFile& file : target().files())
      mappings_.emplace_back(file, job().rw.writes || job().rw.trims);
    return info;
  }
  std::unique_ptr<IoQueue> make_queue(const QueueSetup& setup) override {
    return std::make_unique<MmapQueue>(FileCalls(target(), setup),
                                       std::span<const Mapping>(mappings_).subspan(
                                           target().first_file(setup.clone), target().per_clone()));
  }
  void close() override {
    mappings_.clear();
    FileEngine::close();
  }

 private:
  std::vector<Mapping> mappings_;
};

}  // namespace

std::unique_ptr<Engine> make_mmap_engine(const JobSpec& job, const EngineContext& context) {
  return std::make_unique<MmapEngine>(job, context);
}

}  // namespace cephmark
