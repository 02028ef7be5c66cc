#include "output/rados_bench_figures.h"

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "stats/summary.h"

namespace cephmark {
namespace {

constexpr double kMiBytes = kMiB;
/// A tick comes a little early or late; what is shorter is the rest after the last whole second.
constexpr int64_t kWholeSecond_ns = 950'000'000;

RadosBenchSpread spread_of(const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {sample_stddev(values), *low, *high};
}

}  // namespace

RadosBenchRow RadosBenchRows::first(uint64_t in_flight) {
  RadosBenchRow row;
  row.in_flight = row.started = in_flight;
  rows_.push_back(row);
  return row;
}

std::optional<RadosBenchRow> RadosBenchRows::add(const TickSample& sample) {
  for (int op = 0; op < kOpCount; ++op) finished_ += sample.ios[op] + sample.errors[op];
  current_.merge(sample.response);
  all_.merge(sample.response);
  interval_ns_ += sample.interval_ns;
  if (sample.at_ns - last_row_at_ns_ < kWholeSecond_ns) return {};
  last_row_at_ns_ = sample.at_ns;

  // Counts come a little late: a row's rates are over the time that its counts are of.
  covered_ns_ += interval_ns_;
  const double seconds = std::max<int64_t>(1, interval_ns_) / kNsPerS;
  const double elapsed = covered_ns_ / kNsPerS;
  const double mib_per_op = op_size_bytes_ / kMiBytes;
  RadosBenchRow row;
  row.second = std::llround(sample.at_ns / kNsPerS);
  row.in_flight = sample.in_flight;
  row.finished = finished_;
  row.started = finished_ + sample.in_flight;
  row.mean_mib_s = elapsed > 0 ? finished_ * mib_per_op / elapsed : 0;
  row.current_mib_s = (finished_ - finished_before_) * mib_per_op / seconds;
  if (!current_.empty()) row.latency_s = current_.mean_ns() / kNsPerS;
  row.mean_latency_s = all_.mean_ns() / kNsPerS;
  rows_.push_back(row);

  finished_before_ = finished_;
  interval_ns_ = 0;
  current_ = Histogram();
  return row;
}

RadosBenchSummary rados_bench_summary(const RunResult& result, Op op, uint64_t op_size_bytes,
                                      const std::vector<RadosBenchRow>& rows) {
  const OpResult total = result.total(op);
  RadosBenchSummary out;
  out.seconds = result.measured_ns / kNsPerS;
  out.ops = total.ios;
  out.bytes = total.bytes;
  out.errors = total.error_count();
  out.latency = total.response;
  if (out.seconds > 0) {
    out.mib_s = out.bytes / kMiBytes / out.seconds;
    out.iops = out.ops / out.seconds;
  }
  std::vector<double> bandwidths, rates;
  for (size_t i = 1; i < rows.size(); ++i) {
    bandwidths.push_back(rows[i].current_mib_s);
    rates.push_back(rows[i].current_mib_s * kMiBytes / op_size_bytes);
  }
  if (!rates.empty()) {
    out.mib_s_spread = spread_of(bandwidths);
    out.iops_spread = spread_of(rates);
  }
  return out;
}

}  // namespace cephmark
