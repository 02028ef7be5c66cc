#include "output/sysbench_histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace cephmark {
namespace {

constexpr double kMin_ms = 0.001, kMax_ms = 100'000;
constexpr int kBarWidth = 40;

double step(int buckets) {
  return (std::log(kMax_ms) - std::log(kMin_ms)) / (buckets - 1);
}

double value_of(int bucket, int buckets) {
  return std::exp(bucket * step(buckets) + std::log(kMin_ms));
}

}  // namespace

SysbenchHistogram::SysbenchHistogram(const Histogram& latencies) {
  latencies.for_each_bucket([&](int64_t middle_ns, int64_t, int64_t, uint64_t count) {
    const double ms = std::max(static_cast<double>(middle_ns) / 1e6, kMin_ms);
    const auto bucket = std::lround((std::log(ms) - std::log(kMin_ms)) / step(kBuckets));
    counts_[static_cast<size_t>(std::clamp<long>(bucket, 0, kBuckets - 1))] += count;
    total_ += count;
  });
  counts_.back() += latencies.overflow();
  total_ += latencies.overflow();
}

double SysbenchHistogram::percentile_ms(int percent) const {
  if (percent <= 0 || total_ == 0) return 0;
  const auto wanted =
      static_cast<uint64_t>(std::floor(static_cast<double>(total_) * percent / 100 + 0.5));
  uint64_t reached = 0;
  int bucket = 0;
  for (; bucket < kBuckets - 1; ++bucket)
    if ((reached += counts_[static_cast<size_t>(bucket)]) >= wanted) break;
  return value_of(bucket, kBuckets);
}

std::string SysbenchHistogram::rows() const {
  std::string text;
  const uint64_t most = *std::max_element(counts_.begin(), counts_.end());
  for (int bucket = 0; bucket < kBuckets; ++bucket) {
    const uint64_t count = counts_[static_cast<size_t>(bucket)];
    if (count == 0) continue;
    const auto width = static_cast<size_t>(
        std::floor(static_cast<double>(count) * kBarWidth / static_cast<double>(most) + 0.5));
    text += fmt::format("{:12.3f} |{:<{}} {}\n", value_of(bucket, kBuckets),
                        std::string(width, '*'), kBarWidth, count);
  }
  return text;
}

}  // namespace cephmark
