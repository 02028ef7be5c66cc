#include "output/vm_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/error.h"
#include "base/time.h"
#include "job/job_text.h"

namespace cephmark {
namespace {

constexpr int kTries = 100;

// Names come from job files and hosts; a slash in one must not lead elsewhere.
std::string as_file_name(std::string text, const char* otherwise) {
  std::replace(text.begin(), text.end(), '/', '_');
  return text.empty() || text == "." || text == ".." ? otherwise : text;
}

// "2026-11-30T14-05-09": no colons, which some file systems and scp dislike.
std::string time_suffix(time_t seconds) {
  std::string text = local_time_text(static_cast<int64_t>(seconds) * kNsPerSecond);
  std::replace(text.begin(), text.end(), ' ', 'T');
  std::replace(text.begin(), text.end(), ':', '-');
  return text;
}

UniqueFd lock_directory(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
    throw Error(fmt::format("{} is being written by another run of the same job", path),
                "wait for it to end, or start this one in another directory");
  return fd;
}

// Moves what stands at `path` out of the way; returns where to, or "" when nothing stood there.
std::string move_aside(const std::string& path) {
  struct stat entry;
  if (::lstat(path.c_str(), &entry)) {
    if (errno == ENOENT) return "";
    throw Error(fmt::format("cannot look at {}: {}", path, errno_text(errno)));
  }
  UniqueFd nobody_writes_it;
  if (S_ISDIR(entry.st_mode)) nobody_writes_it = lock_directory(path);
  const std::string with_time = path + "." + time_suffix(entry.st_mtime);
  for (int i = 1; i <= kTries; ++i) {
    std::string target = i == 1 ? with_time : fmt::format("{}-{}", with_time, i);
    if (::renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, target.c_str(), RENAME_NOREPLACE) == 0)
      return target;
    if (errno != EEXIST)
      throw Error(fmt::format("cannot move the older results {} to {}: {}", path, target,
                              errno_text(errno)));
  }
  throw Error(
      fmt::format("cannot move the older results {} aside: {} and {} more like it are there", path,
                  with_time, kTries - 1));
}

}  // namespace

VmFiles VmFiles::create(const Plan& plan, const std::string& host, const std::string& base) {
  VmFiles directory;
  make_directories(base);
  directory.path_ =
      fmt::format("{}/{}_proc_{}", base, as_file_name(plan.title, "job"), plan.vms.size());
  for (const auto& vm : plan.vms)
    directory.suffixes_.push_back(fmt::format(
        "{}_proc_{}", as_file_name(vm.host.empty() ? host : vm.host, "host"), vm.index));
  directory.moved_aside_ = move_aside(directory.path_);
  if (::mkdir(directory.path_.c_str(), 0777))
    throw Error(fmt::format("cannot create directory {}: {}", directory.path_, errno_text(errno)),
                errno == EEXIST ? "another run of the same job has just begun here" : "");
  directory.lock_ = lock_directory(directory.path_);
  return directory;
}

void VmFiles::require_place(const std::string& base) {
  namespace fs = std::filesystem;
  fs::path there = fs::absolute(base).lexically_normal();
  struct stat entry;
  while (::stat(there.c_str(), &entry) != 0 && (errno == ENOENT || errno == ENOTDIR) &&
         there.has_relative_path())
    there = there.parent_path();
  const bool is_directory = ::stat(there.c_str(), &entry) == 0 && S_ISDIR(entry.st_mode);
  if (is_directory && ::access(there.c_str(), W_OK | X_OK) == 0) return;
  throw Error(fmt::format("the files per VM cannot be written below {}: {}: {}", base,
                          there.string(), is_directory ? errno_text(errno) : "is no directory"),
              "name another place with --results-dir, or leave them out with --no-files");
}

VmFiles::~VmFiles() {
  if (!lock_) return;  // moved from
  // rmdir refuses a directory with files in it.
  if (::rmdir(path_.c_str()) == 0 && !moved_aside_.empty())
    ::renameat2(AT_FDCWD, moved_aside_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE);
}

std::string VmFiles::job_file(size_t vm) const {
  return path_ + "/job_file_" + suffixes_.at(vm);
}
std::string VmFiles::result_file(size_t vm) const {
  return path_ + "/test_result_" + suffixes_.at(vm);
}

void VmFiles::write(const Plan& plan, const std::function<std::string(size_t vm)>& fio_json) const {
  for (size_t vm = 0; vm < plan.vms.size(); ++vm) {
    write_file_atomically(job_file(vm), job_file_text(plan.vms[vm]));
    write_file_atomically(result_file(vm), fio_json(vm));
  }
}

}  // namespace cephmark
