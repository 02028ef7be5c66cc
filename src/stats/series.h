// Series: what happened in each slot of time. Slots are absolute (start + k * width), so that the
// series of VMs and hosts merge slot by slot; a slot without completions is there and says 0. One
// owner at a time.
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
  /// Takes the memory for so many slots now, so that at() does not in the hot loop.
  void reserve(size_t slots) { slots_.reserve(slots); }
  SlotSample& at(size_t slot) {  ///< grows the series with empty slots up to `slot`
    if (slot >= slots_.size()) [[unlikely]]
      slots_.resize(slot + 1);
    return slots_[slot];
  }
  /// Slot by slot. An empty series takes the other's width; otherwise both must have the same, else
  /// Error.
  void merge(const Series& other);

  /// {"slot_ns", "slots": [[ios, bytes, errors, response_sum_ns, response_max_ns]...]}.
  Json to_json() const;
  /// Throws Error on a malformed document (`what` names it).
  static Series from_json(const Json& json, const std::string& what);

 private:
  int64_t slot_ns_;
  std::vector<SlotSample> slots_;
};

}  // namespace cephmark
