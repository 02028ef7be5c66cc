#include "engine/file_engine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/descriptor_limit.h"
#include "base/error.h"
#include "base/units.h"

namespace cephmark {

FileEngine::FileEngine(const JobSpec& job, const EngineContext& context)
    : job_(job), guard_(context.file_guard ? *context.file_guard : FileGuard(default_file_guard)) {}

TargetInfo FileEngine::open() {
  target_ = FileTarget::open(job_, guard_);
  TargetInfo info;
  info.files = target_.per_clone();
  info.name = FileTarget::name(job_);
  std::vector<uint64_t> sizes;
  for (const OpenFile& file : target_.files()) {
    sizes.push_back(file.size_bytes);
    info.block_size_bytes = std::max(info.block_size_bytes, file.block_size_bytes);
  }
  set_clone_sizes(sizes, info);
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.begin() + info.files);
  if (*least != *most && job_.size.kind != SizeSpec::Kind::kBytes && !job_.filesize.is_set())
    info.warnings.push_back(fmt::format(
        "the files of job {} have {} to {}: the first {} of each are used (fio uses all of each)",
        job_.name, format_size(*least), format_size(*most), format_size(*least)));
  info.facts["direct"] = job_.direct ? "1" : "0 (through the page cache)";
  info.facts["kind"] = target_.files().front().is_block_device ? "block device" : "file";
  return info;
}

void FileEngine::drop_caches(int64_t) {
  if (job_.direct) return;
  for (const OpenFile& file : target_.files())
    posix_fadvise(file.fd.get(), 0, 0, POSIX_FADV_DONTNEED);
}

void set_clone_sizes(std::span<const uint64_t> file_bytes, TargetInfo& info) {
  std::vector<uint64_t> sizes;
  for (size_t at = 0; at < file_bytes.size(); at += info.files) {
    const auto files = file_bytes.subspan(at, info.files);
    sizes.push_back(*std::min_element(files.begin(), files.end()) * info.files);
  }
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
  info.size_bytes = *least;
  if (*least != *most) info.clone_size_bytes = std::move(sizes);
}

void check_open_files(const Plan& plan) {
  constexpr uint64_t kSpare = 64;  // results, manifests, rings, eventfds
  uint64_t files = 0;
  for (const VmPlan& vm : plan.vms)
    for (const JobSpec& job : vm.jobs) {
      const EngineRow* row = find_engine(job.ioengine);
      if (!row || row->target_key != file_target_key) continue;
      files += uint64_t{FileTarget::files_per_clone(job)} * std::max(1, job.numjobs);
    }
  if (files == 0) return;
  const uint64_t limit = raise_descriptor_limit(files + kSpare);
  if (limit < files + kSpare)
    throw Error(fmt::format("the jobs have {} files open at once, and this process may have {} "
                            "descriptors ({} of them for other uses)",
                            files, limit, kSpare),
                fmt::format("ulimit -n {}, or a smaller numjobs or nrfiles", files + kSpare));
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
