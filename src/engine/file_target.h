// FileTarget: the files or block devices of one job, opened. The single place where this program
// opens a path for I/O: what may be opened, created, laid out or extended is decided here and by
// the guard that is asked here. Opened on a set-up thread (thread-safe: one open at a time in the
// process); read by queues afterwards.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "job/job_spec.h"

namespace cephmark {

/// What is about to be done to a path.
struct FileAccess {
  std::string path;
  bool exists = false;
  bool is_block_device = false;
  bool writes = false;    ///< the job writes, trims or zeroes
  bool own_name = false;  ///< fio's generated $jobname.$jobnum.$filenum, or created by this process
  bool generated = false;  ///< the name is fio's generated one: the user did not give it
  bool created = false;    ///< not a question: the file was made just now, and is still empty
};

/// Asked before each open; refuses by throwing Error. Told once more (`created`) behind each file
/// that was made.
using FileGuard = std::function<void(const FileAccess&)>;

/// The rule without a guard: no writes to what was there before us under a name that is not ours.
void default_file_guard(const FileAccess& access);

struct OpenFile {
  UniqueFd fd;
  std::string path;
  uint64_t size_bytes = 0;
  bool is_block_device = false;
  uint64_t block_size_bytes = 1;  ///< offsets and lengths must be multiples (O_DIRECT)
};

class FileTarget {
 public:
  /// Opens the files of all numjobs clones of `job`. Missing files are created under the job's
  /// size; what will be read is written in full first. Nothing that existed is extended unless its
  /// name is ours. Throws Error (missing, too small, refused, alignment that O_DIRECT cannot do)
  /// naming path, reason and remedy.
  static FileTarget open(const JobSpec& job, const FileGuard& guard);

  /// Paths of the job's files, clone by clone ($jobname.$jobnum.$filenum unless filename= is given,
  /// then the same for every clone). fio's rules.
  static std::vector<std::string> paths(const JobSpec& job);
  static unsigned files_per_clone(const JobSpec& job);
  /// What people call them: the first path, "and 3 more".
  static std::string name(const JobSpec& job);
  /// Jobs with equal keys share the open files.
  static std::string key(const JobSpec& job);

  const std::vector<OpenFile>& files() const { return files_; }
  unsigned per_clone() const { return per_clone_; }
  /// Where one clone's files begin in files(); clones that share their work share the files, too.
  size_t first_file(int clone) const {
    return files_.size() > per_clone_ ? static_cast<size_t>(clone) * per_clone_ : 0;
  }
  /// The descriptors of one clone's files, in order.
  std::vector<int> clone_fds(int clone) const;
  bool clone_has_block_device(int clone) const;
  void close() { files_.clear(); }

 private:
  std::vector<OpenFile> files_;
  unsigned per_clone_ = 1;
};

/// Writes [from, size) of an open file with incompressible data and syncs it. Throws Error naming
/// `path`.
void lay_out_file(int fd, const std::string& path, uint64_t from_bytes, uint64_t size_bytes);

}  // namespace cephmark
