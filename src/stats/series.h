// Series: what happened in each slot of time. Slots are absolute (start + k * width), so that the series of VMs and
// hosts merge slot by slot; a slot without completions is there and says 0. One owner at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "base/json.h"

namespace cephmark {

/// One slot of one VM and op kind: counts, sum and max, never an average.
struct SlotSample {
  uint64_t ios = 0;
  uint64_t bytes = 0;
  uint64_t errors = 0;
  int64_t response_sum_ns = 0;
  int64_t response_max_ns = 0;

  void merge(const SlotSample& other);
};

class Series {
 public:
  static constexpr int64_t kDefaultSlot_ns = 500'000'000;  ///< fio's bwavgtime

  explicit Series(int64_t slot_ns = kDefaultSlot_ns) : slot_ns_(slot_ns) {}

  int64_t slot_ns() const { return slot_ns_; }
  const std::vector<SlotSample>& slots() const { return slots_; }
  SlotSample& at(size_t slot);  ///< grows the series with empty slots up to `slot`
  void merge(const Series& other);  ///< slot by slot; both must have the same width

  Json to_json() const;
  static Series from_json(const Json& json, const std::string& what);

 private:
  int64_t slot_ns_;
  std::vector<SlotSample> slots_;
};

}  // namespace cephmark
