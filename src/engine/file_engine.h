// FileEngine: what psync, libaio and io_uring share: a FileTarget that is opened, described and
// closed, and the calls that have no asynchronous form everywhere. Internal to src/engine.
#pragma once

#include <memory>

#include "engine/engine.h"
#include "engine/engine_table.h"
#include "engine/file_target.h"

namespace cephmark {

class FileEngine : public Engine {
 public:
  FileEngine(const JobSpec& job, const EngineContext& context);
  TargetInfo open() override;
  void close() override { target_.close(); }

 protected:
  const FileTarget& target() const { return target_; }

 private:
  const JobSpec job_;
  const FileGuard guard_;
  FileTarget target_;
};

/// target_key of the file engines.
std::string file_target_key(const JobSpec& job, const EngineContext& context);

/// Does a request in place with blocking calls: the result in IoRequest's terms. `data_only`:
/// fdatasync for a flush.
int64_t do_blocking(int fd, bool is_block_device, bool data_only,
                    const IoRequest& request) noexcept;

/// The same for the kinds that kernel queues do not take (trim, write zeroes) only.
int64_t do_blocking_discard(int fd, bool is_block_device, const IoRequest& request) noexcept;

}  // namespace cephmark
