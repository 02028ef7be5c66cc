#include "engine/file_engine.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace cephmark {

FileEngine::FileEngine(const JobSpec& job, const EngineContext& context)
    : job_(job), guard_(context.file_guard ? *context.file_guard : FileGuard(default_file_guard)) {}

TargetInfo FileEngine::open() {
  target_ = FileTarget::open(job_, guard_);
  TargetInfo info;
  info.files = target_.per_clone();
  info.name = FileTarget::name(job_);
  uint64_t smallest = UINT64_MAX;
  for (const OpenFile& file : target_.files()) {
    smallest = std::min(smallest, file.size_bytes);
    info.block_size_bytes = std::max(info.block_size_bytes, file.block_size_bytes);
  }
  info.size_bytes = smallest * info.files;
  info.facts["direct"] = job_.direct ? "1" : "0 (through the page cache)";
  info.facts["kind"] = target_.files().front().is_block_device ? "block device" : "file";
  return info;
}

std::string file_target_key(const JobSpec& job, const EngineContext&) {
  return FileTarget::key(job);
}

int64_t do_blocking_discard(int fd, bool is_block_device, const IoRequest& request) noexcept {
  int rc = 0;
  if (is_block_device) {
    uint64_t range[2] = {request.offset, request.length};
    rc = ioctl(fd, request.op == Op::kTrim ? BLKDISCARD : BLKZEROOUT, range);
  } else {
    const int mode = request.op == Op::kTrim ? FALLOC_FL_PUNCH_HOLE : FALLOC_FL_ZERO_RANGE;
    rc = fallocate(fd, mode | FALLOC_FL_KEEP_SIZE, request.offset, request.length);
  }
  return rc == 0 ? static_cast<int64_t>(request.length) : -errno;
}

FileCalls::FileCalls(const FileTarget& target, const QueueSetup& setup)
    : fds(target.clone_fds(setup.clone)),
      is_block_device(target.clone_has_block_device(setup.clone)),
      data_only(setup.job && setup.job->flushes_data_only()),
      flush_each_write(setup.job && setup.job->flush_each_write) {}

int FileCalls::write_flags() const noexcept {
  return !flush_each_write ? 0 : data_only ? RWF_DSYNC : RWF_SYNC;
}

int64_t do_blocking(const FileCalls& calls, const IoRequest& request) noexcept {
  const int fd = calls.fd_of(request);
  const auto flush = [&] { return calls.data_only ? fdatasync(fd) : fsync(fd); };
  ssize_t rc = 0;
  switch (request.op) {
    // Not libc's pread: in a program with threads that is a cancellation point, which costs 2 % of
    // a cached read.
    case Op::kRead:
      rc = syscall(SYS_pread64, fd, request.buffer, request.length, request.offset);
      break;
    case Op::kWrite:
      rc = syscall(SYS_pwrite64, fd, request.buffer, request.length, request.offset);
      if (calls.flush_each_write && rc > 0 && flush() != 0) rc = -1;
      break;
    case Op::kFlush:
      rc = flush();
      break;
    case Op::kTrim:
    case Op::kWriteZeroes:
      return do_blocking_discard(fd, calls.is_block_device, request);
  }
  return rc >= 0 ? rc : -errno;
}

}  // namespace cephmark
