// RadosQueue: a lane's way to its objects, one per file of the job. Threads: RadosCallQueue.
// Internal to src/engine.
#pragma once

#include <string>
#include <vector>

#include "engine/rados_call_queue.h"

namespace cephmark {

class RadosQueue final : public RadosCallQueue {
 public:
  /// `names` are the lane's objects, by IoRequest::file.
  RadosQueue(rados_ioctx_t io, ConnectionPool& pool, const QueueSetup& setup,
             std::vector<std::string> names);

 private:
  int start(IoRequest& request, rados_completion_t completion) noexcept override;
  int64_t result_of(const IoRequest& request, int64_t value) noexcept override;

  std::vector<std::string> names_;
};

}  // namespace cephmark
