// RadosBenchQueue: a lane's way to objects as `rados bench` lays them out: the op's number is its
// offset over the op size. Threads: RadosCallQueue. Names and contents take no memory. Internal to
// src/engine.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "ceph/bench_contents.h"
#include "ceph/rados_bench_objects.h"
#include "engine/rados_bench_parts.h"
#include "engine/rados_call_queue.h"

namespace cephmark {

/// What the ops of a run came to. Shared by a run's queues and its engine; any thread.
class BenchProgress {
 public:
  void wrote(uint64_t op) noexcept { raise(end_, op + 1); }
  void failed(uint64_t op) noexcept {
    for (uint64_t seen = gap_; op < seen && !gap_.compare_exchange_weak(seen, op);) continue;
  }
  /// Ops 0 .. written()-1 are all there; once nothing is in flight.
  uint64_t written() const noexcept { return std::min(end_.load(), gap_.load()); }
  /// Ops below this one were sent, whatever became of them.
  uint64_t sent() const noexcept { return sent_; }
  void sending(uint64_t op) noexcept { raise(sent_, op + 1); }

 private:
  static void raise(std::atomic<uint64_t>& value, uint64_t to) noexcept {
    for (uint64_t seen = value; to > seen && !value.compare_exchange_weak(seen, to);) continue;
  }
  std::atomic<uint64_t> end_{0}, gap_{UINT64_MAX}, sent_{0};
};

struct BenchQueueSettings {
  BenchLayout layout;
  std::string prefix;
  bool hints = true;
  bool verify = true;
  BenchContents contents = BenchContents::kOriginal;
  BenchParts parts;
};

class RadosBenchQueue final : public RadosCallQueue {
 public:
  RadosBenchQueue(rados_ioctx_t io, ConnectionPool& pool, const QueueSetup& setup,
                  const BenchQueueSettings& settings, BenchProgress& progress);

 private:
  int start(IoRequest& request, rados_completion_t completion) noexcept override;
  int start_write(IoRequest& request, uint64_t op, rados_completion_t completion) noexcept;
  int start_read(IoRequest& request, uint64_t op, rados_completion_t completion) noexcept;
  bool is_as_written(std::span<const std::byte> bytes, uint64_t op) const noexcept;
  int64_t result_of(const IoRequest& request, int64_t value) noexcept override;

  const BenchQueueSettings settings_;
  const uint64_t seed_;
  BenchProgress& progress_;
  BenchNamer namer_;
  std::vector<BenchPartsRead> reads_;  ///< by slot, where more than an object's data is read
};

}  // namespace cephmark
