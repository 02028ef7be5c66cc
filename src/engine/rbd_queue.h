// RbdQueue: a lane's way into an open image. Owned by the lane; submit() by whoever advances the
// lane; completions come on librbd's threads (at most two at once per context, one at a time per
// image). Internal to src/engine.
#pragma once

#include <rbd/librbd.h>

#include <atomic>
#include <vector>

#include "ceph/connection.h"
#include "engine/engine.h"

namespace cephmark {

class RbdQueue : public IoQueue {
 public:
  RbdQueue(rbd_image_t image, ConnectionPool& pool, const QueueSetup& setup);
  int submit(std::span<IoRequest* const> batch) noexcept override;

 private:
  struct Slot {
    RbdQueue* queue = nullptr;
    std::atomic<IoRequest*> request{
        nullptr};  ///< from before the call to its callback; publishes the request's fields
  };

  static void completed(rbd_completion_t completion, void* slot);
  static void finish(rbd_completion_t completion, Slot& slot) noexcept;
  int start(IoRequest& request, rbd_completion_t completion) noexcept;
  void refuse(Slot& slot, int error) noexcept;
  void tell(IoRequest& request) noexcept;

  rbd_image_t image_;
  ConnectionPool& pool_;
  Ready& ready_;
  std::vector<Slot> slots_;
};

}  // namespace cephmark
