#include "stats/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stats/json_reader.h"

namespace cephmark {

void Histogram::reserve() {
  if (buckets_.empty()) buckets_.assign(kBuckets, 0);
}

void Histogram::merge(const Histogram& other) {
  if (other.empty()) return;
  reserve();
  for (int i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  overflow_ += other.overflow_;
  min_ns_ = std::min(min_ns_, other.min_ns_);
  max_ns_ = std::max(max_ns_, other.max_ns_);
  sum_ns_ += other.sum_ns_;
  sum_squares_ += other.sum_squares_;
}

void Histogram::reset() noexcept {
  std::fill(buckets_.begin(), buckets_.end(),
            0);  // the memory stays: a reset happens in the hot loop
  count_ = overflow_ = 0;
  min_ns_ = INT64_MAX;
  max_ns_ = 0;
  sum_ns_ = sum_squares_ = 0;
}

double Histogram::stddev_ns() const {
  if (count_ == 0) return 0;
  const double n = static_cast<double>(count_), mean = sum_ns_ / n;
  return std::sqrt(std::max(0.0, sum_squares_ / n - mean * mean));
}

uint64_t Histogram::rank_of(double q) const {
  // 0.07 * 100 is 7.000000000000001 in binary: rounding must not push a rank up to the next sample.
  constexpr double kRounding = 1 - 4.5e-16;
  const double rank = std::ceil(q * static_cast<double>(count_) * kRounding);
  if (!(rank >= 1)) return 1;
  return rank >= static_cast<double>(count_) ? count_ : static_cast<uint64_t>(rank);
}

int64_t Histogram::quantile_ns(double q) const {
  if (count_ == 0) return 0;
  const uint64_t rank = rank_of(q);
  if (rank > count_ - overflow_) return std::max(kRange_ns, min_ns_);
  uint64_t seen = 0;
  for (int i = 0; i < kBuckets; ++i) {
    seen += buckets_[i];
    if (seen >= rank) return std::clamp(bucket_middle(i), min_ns_, max_ns_);
  }
  return max_ns_;
}

bool Histogram::quantile_is_floor(double q) const {
  return count_ != 0 && rank_of(q) > count_ - overflow_;
}

int64_t Histogram::bucket_low(int bucket) noexcept {
  const int shift = std::max(0, bucket / kBucketsPerDoubling - 1);
  return static_cast<int64_t>(bucket - kBucketsPerDoubling * shift) << shift;
}

int64_t Histogram::bucket_middle(int bucket) noexcept {
  const int64_t width = bucket_low(bucket + 1) - bucket_low(bucket);
  return bucket_low(bucket) + width / 2;
}

void Histogram::for_each_bucket(
    const std::function<void(int64_t, int64_t, int64_t, uint64_t)>& visit) const {
  for (int i = 0; i < static_cast<int>(buckets_.size()); ++i)
    if (buckets_[i] != 0) visit(bucket_middle(i), bucket_low(i), bucket_low(i + 1), buckets_[i]);
}

Json Histogram::to_json() const {
  Json buckets = Json::array();
  for (size_t i = 0; i < buckets_.size(); ++i)
    if (buckets_[i] != 0) buckets.push_back(Json::array({i, buckets_[i]}));
  Json json;
  json["count"] = count_;
  json["min_ns"] = min_ns();
  json["max_ns"] = max_ns();
  json["sum_ns"] = sum_ns_;
  json["sum_squares"] = sum_squares_;
  json["overflow"] = overflow_;
  json["buckets"] = std::move(buckets);
  return json;
}

Histogram Histogram::from_json(const Json& json, const std::string& what) {
  const JsonReader reader(json, what, 7);
  Histogram h;
  h.count_ = reader.count("count");
  h.overflow_ = reader.count("overflow", h.count_);
  const int64_t min_ns = reader.nanoseconds("min_ns"), max_ns = reader.nanoseconds("max_ns");
  h.sum_ns_ = reader.number("sum_ns");
  h.sum_squares_ = reader.number("sum_squares");
  uint64_t left = h.count_ - h.overflow_;
  int last = -1;
  for (const Json& pair : reader.array("buckets")) {
    if (!pair.is_array() || pair.size() != 2) reader.fail("a bucket is not a pair [index, count]");
    const int index = static_cast<int>(reader.count_at(pair[0], "a bucket's index", kBuckets - 1));
    const uint64_t count = reader.count_at(pair[1], fmt::format("the count of bucket {}", index));
    if (index <= last) reader.fail(fmt::format("bucket {} is out of order", index));
    if (count == 0 || count > left)
      reader.fail(fmt::format("the count of bucket {} does not fit \"count\"", index));
    left -= count;
    last = index;
    h.reserve();
    h.buckets_[index] = count;
  }
  if (left != 0) reader.fail("buckets and \"overflow\" do not add up to \"count\"");
  if (h.count_ == 0) {
    if (min_ns != 0 || max_ns != 0 || h.sum_ns_ != 0 || h.sum_squares_ != 0)
      reader.fail("is empty but has sums");
    return h;
  }
  h.reserve();
  h.min_ns_ = min_ns;
  h.max_ns_ = max_ns;
  h.check_sums(reader);
  return h;
}

void Histogram::check_sums(const JsonReader& reader) const {
  // The bucket that a value falls in; kBuckets for all values above the range.
  const auto place = [](int64_t value) { return value < kRange_ns ? bucket_of(value) : kBuckets; };
  int first = kBuckets, last = kBuckets;
  for (int i = kBuckets - 1; i >= 0; --i) {
    if (buckets_[i] == 0) continue;
    first = i;
    if (last == kBuckets && overflow_ == 0) last = i;
  }
  if (place(min_ns_) != first || place(max_ns_) != last || min_ns_ > max_ns_)
    reader.fail("\"min_ns\" and \"max_ns\" do not fit the buckets");
  // The sums are doubles, added up in any order: as much as that may be off is allowed.
  constexpr double kLess = 1 - 1e-6, kMore = 1 + 1e-6;
  const double n = static_cast<double>(count_), mean = sum_ns_ / n;
  const double min = static_cast<double>(min_ns_), max = static_cast<double>(max_ns_);
  if (mean < min * kLess || mean > max * kMore)
    reader.fail("\"sum_ns\" does not fit \"min_ns\" and \"max_ns\"");
  if (sum_squares_ / n < mean * mean * kLess || sum_squares_ / n > max * max * kMore)
    reader.fail("\"sum_squares\" does not fit \"sum_ns\" and \"max_ns\"");
}

}  // namespace cephmark
