// psync: fio's default engine, one blocking call per request, in the lane's own thread.

#include "base/time.h"
#include "engine/engines.h"
#include "engine/file_engine.h"

namespace cephmark {
namespace {

/// Slow requests go one at a time: the lane has deadlines and stop requests to look at.
constexpr int64_t kLongestBatch_ns = 50 * kNsPerUs;

class PsyncQueue : public IoQueue {
 public:
  PsyncQueue(std::vector<int> fds, bool is_block_device, bool data_only)
      : fds_(std::move(fds)), is_block_device_(is_block_device), data_only_(data_only) {}

  // Between two calls there are only these lines: where one ends the next begins, by one look at
  // the clock.
  int submit(std::span<IoRequest* const> batch) noexcept override {
    const int64_t begun_ns = monotonic_ns();
    int64_t now_ns = begun_ns;
    int done = 0;
    for (IoRequest* request : batch) {
      if (request->submitted_ns == 0) request->submitted_ns = now_ns;
      const int fd = request->file < fds_.size() ? fds_[request->file] : -1;
      request->result = do_blocking(fd, is_block_device_, data_only_, *request);
      request->completed_ns = now_ns = monotonic_ns();
      ++done;
      if (request->result != static_cast<int64_t>(request->length) ||
          now_ns - begun_ns > kLongestBatch_ns)
        break;
    }
    return done;
  }

 private:
  const std::vector<int> fds_;
  const bool is_block_device_;
  const bool data_only_;
};

class PsyncEngine : public FileEngine {
 public:
  using FileEngine::FileEngine;
  std::unique_ptr<IoQueue> make_queue(const QueueSetup& setup) override {
    const bool data_only = setup.job && setup.job->fdatasync > 0;
    return std::make_unique<PsyncQueue>(target().clone_fds(setup.clone),
                                        target().clone_has_block_device(setup.clone), data_only);
  }
};

}  // namespace

std::unique_ptr<Engine> make_psync_engine(const JobSpec& job, const EngineContext& context) {
  return std::make_unique<PsyncEngine>(job, context);
}

}  // namespace cephmark
