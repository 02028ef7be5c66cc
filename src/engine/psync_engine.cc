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
  explicit PsyncQueue(FileCalls calls) : calls_(std::move(calls)) {}

  // Between two calls there are only these lines: where one ends the next begins, by one look at
  // the clock.
  int submit(std::span<IoRequest* const> batch) noexcept override {
    const int64_t begun_ns = monotonic_ns();
    int64_t now_ns = begun_ns;
    int done = 0;
    for (IoRequest* request : batch) {
      if (request->submitted_ns == 0) request->submitted_ns = now_ns;
      request->result = do_blocking(calls_, *request);
      request->completed_ns = now_ns = monotonic_ns();
      ++done;
      if (request->result != static_cast<int64_t>(request->length) ||
          now_ns - begun_ns > kLongestBatch_ns)
        break;
    }
    return done;
  }

 private:
  const FileCalls calls_;
};

class PsyncEngine : public FileEngine {
 public:
  using FileEngine::FileEngine;
  std::unique_ptr<IoQueue> make_queue(const QueueSetup& setup) override {
    return std::make_unique<PsyncQueue>(FileCalls(target(), setup));
  }
};

}  // namespace

std::unique_ptr<Engine> make_psync_engine(const JobSpec& job, const EngineContext& context) {
  return std::make_unique<PsyncEngine>(job, context);
}

}  // namespace cephmark
