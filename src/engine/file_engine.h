// FileEngine: what psync, libaio and io_uring share: a FileTarget that is opened, described and
// closed, and the calls that have no asynchronous form everywhere. Internal to src/engine.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "engine/engine_table.h"
#include "engine/file_target.h"

namespace cephmark {

class FileEngine : public Engine {
 public:
  FileEngine(const JobSpec& job, const EngineContext& context);
  TargetInfo open() override;
  void drop_caches(int64_t timeout_ns) override;
  void close() override { target_.close(); }

 protected:
  const FileTarget& target() const { return target_; }
  const JobSpec& job() const { return job_; }

 private:
  const JobSpec job_;
  const FileGuard guard_;
  FileTarget target_;
};

/// How the requests of one lane are done, as its job says.
struct FileCalls {
  FileCalls(const FileTarget& target, const QueueSetup& setup);
  int fd_of(const IoRequest& request) const noexcept {
    return request.file < fds.size() ? fds[request.file] : -1;
  }
  /// RWF_SYNC or RWF_DSYNC where a write is to be durable when it is done; else 0.
  int write_flags() const noexcept;

  std::vector<int> fds;
  bool is_block_device = false;
  bool data_only = false;         ///< a flush is fdatasync
  bool flush_each_write = false;  ///< JobSpec::flush_each_write
};

/// TargetInfo's sizes, from those of all files of all clones in order: what a clone may use is as
/// often its smallest file as it has files.
void set_clone_sizes(std::span<const uint64_t> file_bytes, TargetInfo& info);

/// Refuses a plan whose jobs on files need more descriptors than this process may have, before
/// anything is looked at; raises the limit where that helps. Throws Error with both numbers.
void check_open_files(const Plan& plan);

/// target_key of the file engines.
std::string file_target_key(const JobSpec& job, const EngineContext& context);

/// Does a request in place with blocking calls: the result in IoRequest's terms.
int64_t do_blocking(const FileCalls& calls, const IoRequest& request) noexcept;

/// The same for the kinds that kernel queues do not take (trim, write zeroes) only.
int64_t do_blocking_discard(int fd, bool is_block_device, const IoRequest& request) noexcept;

}  // namespace cephmark
