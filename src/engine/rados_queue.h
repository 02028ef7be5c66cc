// RadosQueue: a lane's way to its objects. Owned by the lane; submit() by whoever advances the
// lane; completions come on the context's finisher thread, one at a time. Internal to src/engine.
#pragma once

#include <rados/librados.h>

#include <atomic>
#include <string>
#include <vector>

#include "ceph/connection.h"
#include "engine/engine.h"

namespace cephmark {

class RadosQueue : public IoQueue {
 public:
  /// `names` are the lane's objects, by IoRequest::file.
  RadosQueue(rados_ioctx_t io, ConnectionPool& pool, const QueueSetup& setup,
             std::vector<std::string> names);
  int submit(std::span<IoRequest* const> batch) noexcept override;

 private:
  struct Slot {
    RadosQueue* queue = nullptr;
    std::atomic<IoRequest*> request{
        nullptr};  ///< from before the call to its callback; publishes the request's fields
  };

  static void completed(rados_completion_t completion, void* slot);
  static void finish(rados_completion_t completion, Slot& slot) noexcept;
  int start(IoRequest& request, rados_completion_t completion) noexcept;
  void end(Slot& slot, int64_t value) noexcept;

  rados_ioctx_t io_;
  ConnectionPool& pool_;
  Ready& ready_;
  std::vector<std::string> names_;
  std::vector<Slot> slots_;
};

}  // namespace cephmark
