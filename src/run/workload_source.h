// WorkloadSource: the LaneSource of real lanes: a Workload with its arrivals, and the Payload of
// its writes. Owned by one lane.
#pragma once

#include <array>

#include "run/lane_source.h"
#include "workload/payload.h"
#include "workload/workload.h"

namespace cephmark {

class WorkloadSource final : public LaneSource {
 public:
  /// `fills`: writes get their bytes here; false: the engine sees to them. Throws UsageError for a
  /// distribution that does not fit the region.
  WorkloadSource(const JobSpec& job, const Region& region, uint64_t seed, bool fills = true,
                 const std::shared_ptr<SharedWork>& shared = nullptr)
      : workload_(job, region, seed, shared),
        payload_(job, Rng::derive(seed, kPayloadStream)),
        fills_(fills),
        checks_(job.checked_blocks),
        shared_(shared) {}

  void start(int64_t now_ns) override { workload_.start(now_ns); }
  int next_batch(std::span<IoRequest* const> slots, int64_t now_ns) noexcept override;
  int end_batch(std::span<IoRequest* const> slots) noexcept override;
  bool exhausted() const noexcept override { return workload_.exhausted(); }
  int64_t next_due_ns() const noexcept override { return workload_.next_due_ns(); }
  bool open_loop() const noexcept override { return workload_.open_loop(); }
  bool looks_at_completions() const noexcept override { return checks_; }
  int completed(const IoRequest& request, uint64_t offset,
                std::span<const std::byte> data) noexcept override;
  uint64_t max_length() const noexcept { return workload_.max_length(); }

 private:
  static constexpr uint64_t kPayloadStream = 0x7061796c;

  Workload workload_;
  Payload payload_;
  const bool fills_;
  const bool checks_;
  const std::shared_ptr<SharedWork> shared_;
  std::array<IoPlanItem, 64> items_;
  uint32_t end_flushes_sent_ = 0;
};

}  // namespace cephmark
