#include "engine/file_target.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <tuple>

#include "base/error.h"
#include "base/rng.h"
#include "base/time.h"
#include "base/units.h"
#include "engine/path_rules.h"

namespace cephmark {
namespace {

// Files that this process created: two jobs of one run may share a file that neither found there.
// Known by path, inode and time of birth, since an inode number is used again.
using FileIdentity = std::tuple<std::string, uint64_t, int64_t>;
std::mutex open_mutex;
std::set<FileIdentity> created_files;

FileIdentity identity_of(const std::string& path) {
  struct statx facts {};
  if (statx(AT_FDCWD, path.c_str(), 0, STATX_INO | STATX_BTIME, &facts) != 0) return {path, 0, 0};
  std::error_code ignored;
  return {std::filesystem::weakly_canonical(path, ignored).string(), facts.stx_ino,
          facts.stx_btime.tv_sec * kNsPerSecond + facts.stx_btime.tv_nsec};
}

bool writes_of(const JobSpec& job) {
  return job.rw.writes || job.rw.trims;
}

// SAF-03: an empty variable or a mistyped device must not become a file in a kernel's directory.
void refuse_kernel_directories(const std::string& path) {
  if (is_system_path(std::filesystem::path(path).lexically_normal().string()) ||
      is_system_path(resolve_path(path)))
    throw Error(fmt::format("{} does not exist, and files are never created under /dev, /proc or "
                            "/sys",
                            path),
                "check the name for a typing error or an empty variable; files in memory may lie "
                "under /dev/shm");
}

uint64_t needed_bytes(const JobSpec& job, int clone, unsigned files) {
  if (job.filesize.kind == SizeSpec::Kind::kBytes) return job.filesize.value;
  if (job.size.kind != SizeSpec::Kind::kBytes) return 0;
  uint64_t need = job.size.value / files;
  if (job.offset.kind == SizeSpec::Kind::kBytes) need += job.offset.value;
  if (job.offset_increment.kind == SizeSpec::Kind::kBytes)
    need += job.offset_increment.value * clone;
  return need;
}

uint64_t direct_alignment(int fd, bool is_block_device) {
  if (is_block_device) {
    int sector_bytes = 0;
    return ioctl(fd, BLKSSZGET, &sector_bytes) == 0 && sector_bytes > 0 ? sector_bytes : 512;
  }
#ifdef STATX_DIOALIGN
  struct statx facts {};
  if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &facts) == 0 &&
      (facts.stx_mask & STATX_DIOALIGN) && facts.stx_dio_offset_align > 0)
    return facts.stx_dio_offset_align;
#endif
  return 512;
}

void check_alignment(const JobSpec& job, const OpenFile& file) {
  const auto check = [&](Op op, uint64_t bytes) {
    if (bytes % file.block_size_bytes == 0) return;
    throw UsageError(
        fmt::format("job {}: a {} of {} bytes cannot be done with direct=1 on {}: it takes "
                    "multiples of {} bytes",
                    job.name, op_name(op), bytes, file.path, file.block_size_bytes),
        bytes % 1000 == 0
            ? "with kb_base=1000 bs=1k means 1000 bytes; write bs=1024 or leave kb_base at 1024"
            : "choose a block size that is a multiple of it, or direct=0");
  };
  for (Op op : {Op::kRead, Op::kWrite, Op::kTrim}) {
    if (!job.has_op(op)) continue;
    const BlockSizes& sizes = job.block_sizes[op_index(op)];
    if (sizes.splits.empty()) check(op, sizes.min_bytes);
    for (const BlockSplit& split : sizes.splits) check(op, split.bytes);
  }
}

void read_size(OpenFile& file) {
  struct stat facts {};
  if (fstat(file.fd.get(), &facts) != 0)
    throw Error(fmt::format("cannot look at {}: {}", file.path, errno_text(errno)));
  file.is_block_device = S_ISBLK(facts.st_mode);
  file.size_bytes = facts.st_size;
  if (file.is_block_device && ioctl(file.fd.get(), BLKGETSIZE64, &file.size_bytes) != 0)
    throw Error(fmt::format("cannot read the size of {}: {}", file.path, errno_text(errno)));
  if (S_ISDIR(facts.st_mode))
    throw Error(fmt::format("{} is a directory, not a file", file.path),
                "name a file, or give directory= instead");
}

UniqueFd open_path(const std::string& path, int flags) {
  UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC, 0644));
  if (fd) return fd;
  const int error = errno;
  std::string hint;
  if (error == EINVAL && (flags & O_DIRECT))
    hint = "its file system has no direct I/O: set direct=0";
  if (error == ENOENT && (flags & O_CREAT))
    hint = fmt::format("make the directory first: mkdir -p {}",
                       std::filesystem::path(path).parent_path().string());
  if (error == EACCES || error == EPERM) hint = "run as a user that may open it";
  throw Error(fmt::format("cannot open {}: {}", path, errno_text(error)), hint);
}

// Creates what is missing, writes what will be read, extends what is ours.
void bring_to_size(const JobSpec& job, OpenFile& file, uint64_t need, bool own_name) {
  if (need == 0 || file.size_bytes >= need) return;
  if (job.grow_files && !job.rw.reads && !file.is_block_device) {
    file.size_bytes = need;  // when it has been written
    return;
  }
  if (file.is_block_device || !own_name)
    throw Error(fmt::format("job {} needs {} of {}, which has {}", job.name, format_size(need),
                            file.path, format_size(file.size_bytes)),
                "make size= (or offset=) smaller, or name a file that this program may create; "
                "what exists is not "
                "extended");
  // Through a descriptor of its own: the job's may be read-only or direct.
  const UniqueFd fd = open_path(file.path, O_WRONLY);
  if (job.rw.reads || job.overwrite)
    lay_out_file(fd.get(), file.path, file.size_bytes, need);
  else if (ftruncate(fd.get(), need) != 0)
    throw Error(
        fmt::format("cannot extend {} to {}: {}", file.path, format_size(need), errno_text(errno)));
  file.size_bytes = need;
}

// A job that reads, or is to overwrite, lays its files out, and one without a limit of its own
// writes all of them.
bool fills_its_files(const JobSpec& job) {
  return job.rw.reads || job.overwrite ||
         (job.rw.writes && !job.io_size.is_set() && job.runtime_ns == 0 && job.number_ios == 0);
}

// All at once, and before the first byte: a file system that the run fills up fails for everybody.
void check_free_space(const JobSpec& job, const std::map<std::string, uint64_t>& needs) {
  struct Space {
    uint64_t needed_bytes = 0, free_bytes = 0;
    std::string place;
  };
  std::map<dev_t, Space> file_systems;
  for (const auto& [path, need] : needs) {
    struct stat facts {};
    std::string place = path;
    uint64_t there_bytes = 0;
    if (stat(path.c_str(), &facts) == 0) {
      if (!S_ISREG(facts.st_mode)) continue;
      there_bytes = static_cast<uint64_t>(facts.st_blocks) * 512;
    } else {
      place = std::filesystem::path(path).parent_path().string();
      if (place.empty()) place = ".";
      if (stat(place.c_str(), &facts) != 0) continue;  // the open tells that better
    }
    struct statvfs space {};
    if (need <= there_bytes || statvfs(place.c_str(), &space) != 0) continue;
    if (space.f_blocks == 0) continue;  // /proc and the like: refused for what they are
    Space& total = file_systems[facts.st_dev];
    total.needed_bytes += need - there_bytes;
    total.free_bytes = static_cast<uint64_t>(space.f_bavail) * space.f_frsize;
    total.place = place;
  }
  for (const auto& [device, space] : file_systems)
    if (space.needed_bytes > space.free_bytes)
      throw Error(fmt::format("the files of job {} take {}, and the file system of {} has {} free",
                              job.name, format_size(space.needed_bytes), space.place,
                              format_size(space.free_bytes)),
                  "free some space, or make size= or numjobs= smaller");
}

OpenFile open_one(const JobSpec& job, const std::string& path, uint64_t need, bool generated,
                  const FileGuard& guard, std::vector<std::string>& created) {
  struct stat facts {};
  const bool exists = stat(path.c_str(), &facts) == 0;
  if (!exists && errno != ENOENT)
    throw Error(fmt::format("cannot look at {}: {}", path, errno_text(errno)));
  const bool ours = generated || !exists || created_files.contains(identity_of(path));
  if (!exists) {
    refuse_kernel_directories(path);
    if (need == 0)
      throw UsageError(
          fmt::format("job {}: {} does not exist and size= does not say how large to make it",
                      job.name, path),
          "set size= to bytes, or name an existing file");
  }
  if (exists && !S_ISREG(facts.st_mode) && !S_ISBLK(facts.st_mode) && !S_ISDIR(facts.st_mode))
    throw Error(fmt::format("{} is neither a regular file nor a block device", path),
                "name a file, a block device, or use ioengine=null");
  const bool writes = writes_of(job);
  FileAccess access{path, exists, exists && S_ISBLK(facts.st_mode), writes, ours, generated};
  if (guard) guard(access);
  if (!exists) {
    open_path(path, O_WRONLY | O_CREAT | O_EXCL);
    created_files.insert(identity_of(path));
    created.push_back(path);
    access.exists = access.created = true;
    if (guard) guard(access);
  }
  OpenFile file;
  file.path = path;
  const int sync = job.sync == SyncWrites::kSync    ? O_SYNC
                   : job.sync == SyncWrites::kDsync ? O_DSYNC
                                                    : 0;
  file.fd = open_path(path, (writes ? O_RDWR : O_RDONLY) | (job.direct ? O_DIRECT : 0) | sync);
  read_size(file);
  bring_to_size(job, file, need, ours);
  if (job.direct) {
    file.block_size_bytes = direct_alignment(file.fd.get(), file.is_block_device);
    check_alignment(job, file);
  } else if (job.invalidate) {
    posix_fadvise(file.fd.get(), 0, 0, POSIX_FADV_DONTNEED);
  }
  return file;
}

}  // namespace

void default_file_guard(const FileAccess& access) {
  if (access.created) return;
  if (access.writes && access.exists && !access.own_name)
    throw Error(fmt::format("{} was there before this run: writing to it is refused", access.path),
                "name a file that does not exist yet, or allow this one with --allow-write");
}

void lay_out_file(int fd, const std::string& path, uint64_t from_bytes, uint64_t size_bytes) {
  std::vector<uint64_t> block(kMiB / sizeof(uint64_t));
  Rng rng(Rng::derive(0x6c61796f7574, size_bytes));
  for (uint64_t at = from_bytes; at < size_bytes;) {
    for (uint64_t& word : block) word = rng.next();
    const size_t length = std::min<uint64_t>(kMiB, size_bytes - at);
    const ssize_t wrote = pwrite(fd, block.data(), length, at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0)
      throw Error(fmt::format("cannot write {} of {} at offset {}: {}", format_size(size_bytes),
                              path, at, errno_text(wrote < 0 ? errno : ENOSPC)),
                  "free some space, or make size= smaller");
    at += wrote;
  }
  if (fsync(fd) != 0) throw Error(fmt::format("cannot sync {}: {}", path, errno_text(errno)));
}

unsigned FileTarget::files_per_clone(const JobSpec& job) {
  return job.filenames.empty() ? std::max(1, job.nrfiles)
                               : static_cast<unsigned>(job.filenames.size());
}

std::vector<std::string> FileTarget::paths(const JobSpec& job) {
  std::vector<std::string> out;
  for (int clone = 0; clone < job.numjobs; ++clone) {
    const size_t turn = static_cast<size_t>(clone) % (1 + job.more_directories.size());
    const std::string& directory = turn == 0 ? job.directory : job.more_directories[turn - 1];
    const auto in_directory = [&](const std::string& name) {
      return directory.empty() || name.starts_with('/') ? name : directory + "/" + name;
    };
    for (const std::string& name : job.filenames) out.push_back(in_directory(name));
    for (int file = 0; job.filenames.empty() && file < std::max(1, job.nrfiles); ++file)
      out.push_back(in_directory(fmt::format("{}.{}.{}", job.name, clone, file)));
  }
  return out;
}

std::string FileTarget::name(const JobSpec& job) {
  const std::vector<std::string> all = paths(job);
  return all.size() == 1 ? all.front() : fmt::format("{} and {} more", all.front(), all.size() - 1);
}

std::string FileTarget::key(const JobSpec& job) {
  std::string key = fmt::format(
      "{}:{}{}{}{}{}{}{}:{}:{}", job.ioengine, job.direct ? "d" : "", writes_of(job) ? "w" : "",
      job.rw.reads ? "r" : "", job.overwrite ? "o" : "", job.grow_files ? "g" : "",
      job.clones_share ? "c" : "", static_cast<int>(job.sync), files_per_clone(job),
      needed_bytes(job, job.numjobs - 1, files_per_clone(job)));
  for (const std::string& path : paths(job)) key += ":" + path;
  return key;
}

FileTarget FileTarget::open(const JobSpec& job, const FileGuard& guard) {
  const std::lock_guard lock(open_mutex);
  FileTarget target;
  target.per_clone_ = files_per_clone(job);
  std::vector<std::string> all = paths(job);
  if (job.clones_share && !job.filenames.empty() && job.more_directories.empty())
    all.resize(target.per_clone_);
  std::map<std::string, uint64_t> needs;
  for (size_t i = 0; i < all.size(); ++i) {
    const int clone = static_cast<int>(i / target.per_clone_);
    uint64_t& need = needs[all[i]];
    need = std::max(need, needed_bytes(job, clone, target.per_clone_));
  }
  if (fills_its_files(job)) check_free_space(job, needs);
  const FileGuard& asked = guard ? guard : FileGuard(default_file_guard);
  std::set<std::string> known;  // clones may share a file: the guard looks at much, once
  std::vector<std::string> created;
  try {
    for (const std::string& path : all)
      target.files_.push_back(open_one(job, path, needs[path], job.filenames.empty(),
                                       known.insert(path).second ? asked : FileGuard(), created));
  } catch (...) {
    // Half a set of files is of no use to anybody.
    for (const std::string& path : created) ::unlink(path.c_str());
    throw;
  }
  return target;
}

std::vector<int> FileTarget::clone_fds(int clone) const {
  std::vector<int> fds;
  for (unsigned i = 0; i < per_clone_; ++i)
    fds.push_back(files_.at(first_file(clone) + i).fd.get());
  return fds;
}

bool FileTarget::clone_has_block_device(int clone) const {
  for (unsigned i = 0; i < per_clone_; ++i)
    if (files_.at(first_file(clone) + i).is_block_device) return true;
  return false;
}

}  // namespace cephmark
