// Histogram: latencies in nanoseconds, log-linear. Owned by one thread at a time; merge copies
// between owners. Edges: values below 128 ns exactly, then 64 linear buckets per doubling up to
// 2^43 ns (2.4 hours): the edges of fio's histogram (fio_stat: 64 per doubling, 29 groups),
// continued upwards, so that json+ is an exact fold of it. A bucket's value is its middle; relative
// error <= 1/128.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/json.h"

namespace cephmark {

class Histogram {
 public:
  static constexpr int kBucketsPerDoubling = 64;
  static constexpr int64_t kExactBelow_ns = 128;
  static constexpr int64_t kRange_ns = int64_t{1}
                                       << 43;  ///< values at or above are counted as overflow
  static constexpr int kBuckets = 64 * (43 - 6) + 64;

  /// No memory is taken until the first add, merge or reserve.
  Histogram() = default;

  /// Takes the memory (19 KiB) now, so that the hot loop does not.
  void reserve();

  /// Counts one value; negative values count as 0. Does not allocate after reserve().
  void add(int64_t value_ns) noexcept { add(value_ns, 1); }
  void add(int64_t value_ns, uint64_t count) noexcept;
  /// Adds the other's samples. The result does not depend on the order of merges (sums but for
  /// rounding).
  void merge(const Histogram& other);
  void reset() noexcept;

  uint64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  int64_t min_ns() const { return count_ ? min_ns_ : 0; }
  int64_t max_ns() const { return count_ ? max_ns_ : 0; }  ///< exact, also above the range
  double sum_ns() const { return sum_ns_; }
  double mean_ns() const { return count_ ? sum_ns_ / count_ : 0; }
  double stddev_ns() const;  ///< population standard deviation
  /// How many values were at or above kRange_ns.
  uint64_t overflow() const { return overflow_; }

  /// The value at or below which a share q in [0, 1] of the samples lies: the middle of the bucket
  /// that the ceil(q * count)-th sample is in, never outside [min, max]. When that sample is above
  /// the range, kRange_ns, or min_ns() if that is higher (see quantile_is_floor). 0 for an empty
  /// histogram. This is fio's rule (fio.md 2.2).
  int64_t quantile_ns(double q) const;
  /// True when quantile_ns(q) is only a lower bound (to be shown as ">=").
  bool quantile_is_floor(double q) const;

  /// Calls visit(middle_ns, low_ns, high_ns, count) for every bucket that holds samples, in rising
  /// order.
  void for_each_bucket(const std::function<void(int64_t middle, int64_t low, int64_t high,
                                                uint64_t count)>& visit) const;

  /// The bucket of a value in [0, kRange_ns).
  static int bucket_of(int64_t value_ns) noexcept {
    // The highest bit above 2^6 says how far to shift so that 64..127 remains; values below 128 are
    // not shifted.
    const int shift = 57 - __builtin_clzll(static_cast<uint64_t>(value_ns) | 64);
    return kBucketsPerDoubling * shift + static_cast<int>(value_ns >> shift);
  }
  static int64_t bucket_low(int bucket) noexcept;
  static int64_t bucket_middle(int bucket) noexcept;

  /// Sparse:
  /// {"count","min_ns","max_ns","sum_ns","sum_squares","overflow","buckets":[[index,count]...]}.
  Json to_json() const;
  /// Throws Error on a document that is malformed or contradicts itself (`what` names it): missing
  /// or unknown keys, negative or fractional counts, indices out of range or order, sums that do
  /// not fit the buckets.
  static Histogram from_json(const Json& json, const std::string& what);

 private:
  uint64_t rank_of(double q) const;
  void check_sums(const class JsonReader& reader) const;

  std::vector<uint64_t> buckets_;  ///< empty, or kBuckets long
  uint64_t count_ = 0;
  uint64_t overflow_ = 0;
  int64_t min_ns_ = INT64_MAX;
  int64_t max_ns_ = 0;
  double sum_ns_ = 0;
  double sum_squares_ = 0;
};

inline void Histogram::add(int64_t value_ns, uint64_t count) noexcept {
  if (buckets_.empty()) [[unlikely]]
    reserve();
  if (count == 0) [[unlikely]]
    return;
  if (value_ns < 0) value_ns = 0;
  if (value_ns < kRange_ns) [[likely]] {
    buckets_[bucket_of(value_ns)] += count;
  } else {
    overflow_ += count;
  }
  count_ += count;
  if (value_ns < min_ns_) min_ns_ = value_ns;
  if (value_ns > max_ns_) max_ns_ = value_ns;
  const double value = static_cast<double>(value_ns), times = static_cast<double>(count);
  sum_ns_ += value * times;
  sum_squares_ += value * value * times;
}

}  // namespace cephmark
