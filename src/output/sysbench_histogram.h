// SysbenchHistogram: latencies in sysbench's 1,024 buckets, which its percentiles and its printed
// histogram come from: equal steps of the logarithm from 0.001 ms to 100 s. Made of ours. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "stats/histogram.h"

namespace cephmark {

class SysbenchHistogram {
 public:
  explicit SysbenchHistogram(const Histogram& latencies);

  /// In milliseconds: the value of the bucket in which the share is reached (sysbench's rule); 0
  /// without samples or for 0 per cent.
  double percentile_ms(int percent) const;
  /// The rows of --histogram, without their heading.
  std::string rows() const;

 private:
  static constexpr int kBuckets = 1024;
  std::array<uint64_t, kBuckets> counts_{};
  uint64_t total_ = 0;
};

}  // namespace cephmark
