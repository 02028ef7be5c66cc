// IoUringPort: one io_uring ring, of one worker. Made on a set-up thread, used by its worker only.
// Internal to src/engine (io_uring_engine.cc).
#pragma once

#include <liburing.h>

#include <vector>

#include "engine/engine.h"

namespace cephmark {

struct RingSetup {
  unsigned depth = 1;
  bool kernel_thread = false;  ///< sqthread_poll
  bool polled = false;  ///< hipri: the device is asked for completions, it sends no interrupt
  bool register_files = true;
};

class IoUringPort : public Port {
 public:
  /// Throws Error.
  explicit IoUringPort(const RingSetup& setup);
  ~IoUringPort() override { io_uring_queue_exit(&ring_); }

  /// Index in the ring's file table, or -1 when it has none or is full.
  int register_file(int fd);
  /// Maps a lane's buffers into the kernel; returns the index of the first. Throws Error.
  unsigned register_buffers(const std::vector<std::span<std::byte>>& buffers);
  bool polled() const noexcept { return setup_.polled; }

  /// Null: full.
  io_uring_sqe* next_entry() noexcept;
  void count_in() noexcept {
    ++in_flight_;
    unsubmitted_ = true;
  }
  /// A request that was done in place.
  void add_finished(IoRequest& request) noexcept;

  int flush() noexcept override;
  int reap(std::span<IoRequest*> out) noexcept override;
  void wait(int wake_fd, int64_t deadline_ns) noexcept override;

 private:
  const RingSetup setup_;
  io_uring ring_{};
  std::vector<IoRequest*> finished_;
  unsigned in_flight_ = 0;
  unsigned next_file_ = 0;
  unsigned next_buffer_ = 0;
  bool unsubmitted_ = false;
  bool wake_armed_ = false;
  bool has_file_table_ = false;
  bool has_buffer_table_ = false;
};

}  // namespace cephmark
