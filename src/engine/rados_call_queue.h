// RadosCallQueue: how requests become asynchronous calls of librados and come back, whatever the
// objects look like: the base of the queues on objects. Owned by the lane; submit() by whoever
// advances the lane; completions come on the context's finisher thread, one at a time. Internal to
// src/engine.
#pragma once

#include <rados/librados.h>

#include <atomic>
#include <vector>

#include "ceph/connection.h"
#include "engine/engine.h"

namespace cephmark {

class RadosCallQueue : public IoQueue {
 public:
  int submit(std::span<IoRequest* const> batch) noexcept final;

 protected:
  RadosCallQueue(rados_ioctx_t io, ConnectionPool& pool, const QueueSetup& setup);

  /// Makes the call. Below 0: the library did not take it and will not call back. Once it is made
  /// the request may be completed and used again by another thread: it is not touched any more.
  virtual int start(IoRequest& request, rados_completion_t completion) noexcept = 0;
  /// IoRequest::result for what the call returned. After the completion was stamped: what this
  /// takes is not the cluster's time.
  virtual int64_t result_of(const IoRequest& request, int64_t value) noexcept = 0;

  rados_ioctx_t io() const { return io_; }

 private:
  struct Slot {
    RadosCallQueue* queue = nullptr;
    std::atomic<IoRequest*> request{
        nullptr};  ///< from before the call to its callback; publishes the request's fields
  };

  static void completed(rados_completion_t completion, void* slot);
  static void finish(rados_completion_t completion, Slot& slot) noexcept;
  void end(Slot& slot, int64_t value) noexcept;

  rados_ioctx_t io_;
  ConnectionPool& pool_;
  Ready& ready_;
  std::vector<Slot> slots_;
};

}  // namespace cephmark
