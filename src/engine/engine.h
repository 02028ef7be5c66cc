// Engine: one target that I/O goes to (an open image, a file, a set of objects), and IoQueue: a
// lane's way into it. An Engine is opened, shared by all lanes on its target and closed by set-up
// and tear-down threads; an IoQueue belongs to one lane, which is advanced by one thread at a time.
//
// Three ways to complete, said by the engine's row (engine_table.h):
//   kPolled    null, libaio, io_uring: the worker's Port is reaped by the worker that owns it;
//   kBlocking  psync, mmap: submit() returns with the request completed; a thread per lane;
//   kCallback  rbd, rados: the library's threads call Ready::ready(), possibly before submit() has
//   returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "job/job_spec.h"
#include "job/op.h"

namespace cephmark {

/// One slot of queue depth. Its fields are published between threads through the lane's strand
/// word.
struct IoRequest {
  Op op = Op::kRead;
  uint32_t slot = 0;            ///< 0 .. depth-1 of its queue: engines keep per-request state by it
  uint32_t file = 0;            ///< index of file or object, for targets of several (nrfiles)
  uint32_t flags = 0;           ///< the lane's own
  uint64_t offset = 0;          ///< bytes
  uint64_t length = 0;          ///< bytes; 0 for flush
  std::byte* buffer = nullptr;  ///< length bytes, page aligned; null for flush, trim, write zeroes
  int64_t due_ns = 0;           ///< when the arrival process wanted it
  int64_t submitted_ns = 0;     ///< before the library or system call
  int64_t completed_ns = 0;     ///< where completion is first seen
  int64_t result =
      0;  ///< bytes done (all of length for trim and write zeroes, 0 for flush), or -errno
  IoRequest* next = nullptr;    ///< the lane's mailbox
  void* lane = nullptr;         ///< the lane it belongs to
  void* engine_data = nullptr;  ///< the queue's own
};

/// What a callback engine tells about a finished request: `completed_ns` and `result` are set
/// before the call. Called from any thread, at any time after the request was handed to submit();
/// never from inside submit() on the same stack. Must not block and must not call into librbd or
/// librados but for rbd_aio_* and rados_aio_*.
class Ready {
 public:
  virtual void ready(IoRequest& request) noexcept = 0;

 protected:
  ~Ready() = default;
};

/// What open() found out about the target.
struct TargetInfo {
  std::string name;                        ///< "rbd/HOST-0", "/srv/x": what people call it
  uint64_t size_bytes = 0;                 ///< of one clone's share: of all its files together
  std::vector<uint64_t> clone_size_bytes;  ///< of each clone, where they differ (offset_increment)
  unsigned files =
      1;  ///< per clone; IoRequest::file is below it, each file holds size_bytes / files
  uint64_t block_size_bytes = 1;  ///< I/O must be a multiple of this (direct I/O, EC pools)
  std::map<std::string, std::string>
      facts;  ///< what stands in the report: "cache": "off (set by cephmark)"
  std::vector<std::string> warnings;
};

/// A kernel submission and completion context that belongs to one worker; lanes of that worker
/// share it.
class Port {
 public:
  virtual ~Port() = default;
  /// Hands to the kernel what queues have put in since the last flush. Returns 0 or -errno.
  virtual int flush() noexcept = 0;
  /// Takes finished requests, never waits. completed_ns is stamped once per call. Returns how many.
  virtual int reap(std::span<IoRequest*> out) noexcept = 0;
  /// Waits until something may be reaped, until `wake_fd` is readable or until `deadline_ns`
  /// (monotonic).
  virtual void wait(int wake_fd, int64_t deadline_ns) noexcept = 0;
};

class IoQueue {
 public:
  virtual ~IoQueue() = default;
  /// Accepts requests from the front of the batch; sets submitted_ns unless the caller did
  /// (non-zero). Returns how many were accepted (the rest is to be offered again after
  /// completions). A request that fails at once is accepted and completes with -errno. Asynchronous
  /// for kPolled and kCallback; kBlocking completes in place, one after the other, and stops behind
  /// a request that failed, fell short or took long, so that its caller can see to that.
  virtual int submit(std::span<IoRequest* const> batch) noexcept = 0;
};

struct QueueSetup {
  unsigned depth = 1;
  Ready* ready = nullptr;  ///< kCallback
  Port* port = nullptr;    ///< kPolled: made by the same engine row's make_port
  const JobSpec* job =
      nullptr;    ///< the lane's job (one of those that share the engine); outlives the queue
  int clone = 0;  ///< which of its numjobs
  std::vector<std::span<std::byte>>
      buffers;  ///< the lane's memory, for engines that register it; may be empty
};

class Engine {
 public:
  virtual ~Engine() = default;
  /// Opens the target. Called once, on a set-up thread; may block up to the plan's open time limit.
  /// Throws Error that names target, user and errno with a hint.
  virtual TargetInfo open() = 0;
  /// What a lane's first write needs beyond an open target (rbd: the exclusive lock). Called once,
  /// after all opens and before the barrier, on a set-up thread; may block up to `timeout_ns`.
  /// Throws Error that names what it waited for.
  virtual void prepare(bool will_write, int64_t timeout_ns) {
    (void)will_write;
    (void)timeout_ns;
  }
  /// Drops what caches of this machine hold of the target (invalidate=1). Called before a stage
  /// with jobs on it begins, while no request is in flight, on a set-up thread; may block up to
  /// `timeout_ns`. Throws Error.
  virtual void drop_caches(int64_t timeout_ns) { (void)timeout_ns; }
  /// A queue for one lane. Called after open(), before the barrier, on a set-up thread. Throws
  /// Error.
  virtual std::unique_ptr<IoQueue> make_queue(const QueueSetup& setup) = 0;
  /// Makes durable what a cache of this machine still holds of the run's writes. Called once after
  /// the last I/O, before the results are collected, on a tear-down thread; may block up to
  /// `timeout_ns`. Returns how long that took, or -1 when nothing could be held back. Throws Error.
  virtual int64_t settle(int64_t timeout_ns) {
    (void)timeout_ns;
    return -1;
  }
  /// Closes the target: no request is in flight, all queues are gone. Called once, on a tear-down
  /// thread. Throws Error.
  virtual void close() = 0;
};

}  // namespace cephmark
