#include "output/fio_direction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/time.h"
#include "stats/summary.h"

namespace cephmark {
namespace {

constexpr double kPercentiles[] = {1,  5,  10, 20, 30,   40,   50,    60,   70,
                                   80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99};

/// What fio calls a data direction: write zeroes count as trims, as fio's rbd engine sends them.
OpResult direction_counts(const JobResult& job, Op op) {
  OpResult counts;
  if (const OpResult* own = job.find(op)) counts.merge(*own);
  if (op == Op::kTrim)
    if (const OpResult* zeroes = job.find(Op::kWriteZeroes)) counts.merge(*zeroes);
  return counts;
}

Json empty_latency() {
  return {{"min", 0}, {"max", 0}, {"mean", 0.0}, {"stddev", 0.0}, {"N", 0}};
}

Json latency(const Histogram& histogram) {
  if (histogram.empty()) return empty_latency();
  return {{"min", histogram.min_ns()},
          {"max", histogram.max_ns()},
          {"mean", histogram.mean_ns()},
          {"stddev", histogram.stddev_ns()},
          {"N", histogram.count()}};
}

void add_percentiles(Json& json, const Histogram& histogram, bool bins) {
  if (histogram.empty()) return;
  Json percentiles = Json::object();
  for (const double p : kPercentiles)
    percentiles[fmt::format("{:.6f}", p)] = histogram.quantile_ns(p / 100);
  json["percentile"] = std::move(percentiles);
  if (!bins) return;
  Json all = Json::object();
  histogram.for_each_bucket([&](int64_t middle, int64_t, int64_t, uint64_t count) {
    all[std::to_string(middle)] = count;
  });
  if (histogram.overflow() > 0) all[std::to_string(Histogram::kRange_ns)] = histogram.overflow();
  json["bins"] = std::move(all);
}

/// clat is service time without the submit call, so that mean slat + mean clat = mean lat; its
/// percentiles are those of the service time, of which alone there is a distribution.
Json completion_latency(const OpResult& counts, bool bins) {
  Json json = latency(counts.service);
  if (!counts.service.empty() && !counts.submit.empty()) {
    json["mean"] = std::max(0.0, counts.service.mean_ns() - counts.submit.mean_ns());
    json["min"] = std::max<int64_t>(
        0, counts.service.min_ns() - static_cast<int64_t>(std::llround(counts.submit.mean_ns())));
  }
  add_percentiles(json, counts.service, bins);
  return json;
}

struct Samples {
  double min = 0, max = 0, mean = 0, deviation = 0;
  size_t count = 0;
};

Samples spread(const std::vector<double>& values) {
  Samples all;
  if (values.empty()) return all;
  all.count = values.size();
  all.min = *std::min_element(values.begin(), values.end());
  all.max = *std::max_element(values.begin(), values.end());
  all.mean = mean(values);
  all.deviation = sample_stddev(values);
  return all;
}

/// The slots that lie wholly inside a measured span; an idle slot is a sample of 0.
void sample_slots(const JobResult& job, const Series& series, std::vector<double>& kib_per_s,
                  std::vector<double>& iops) {
  const int64_t width = series.slot_ns();
  const double seconds = static_cast<double>(width) / kNsPerSecond;
  for (const auto& phase : job.phases) {
    if (phase.kind != PhaseKind::kMeasure) continue;
    const int64_t first = (std::max<int64_t>(0, phase.start_ns) + width - 1) / width;
    for (int64_t slot = first; (slot + 1) * width <= phase.end_ns; ++slot) {
      const auto index = static_cast<size_t>(slot);
      const SlotSample sample =
          index < series.slots().size() ? series.slots()[index] : SlotSample{};
      kib_per_s.push_back(static_cast<double>(sample.bytes) / 1024 / seconds);
      iops.push_back(static_cast<double>(sample.ios) / seconds);
    }
  }
}

void add_samples(Json& json, const JobFigures& job, const OpResult& counts,
                 double group_kib_per_s) {
  std::vector<double> kib_per_s, iops;
  if (counts.ios > 0) sample_slots(*job.result, counts.series, kib_per_s, iops);
  const Samples bw = spread(kib_per_s), io = spread(iops);
  json["bw_min"] = std::llround(bw.min);
  json["bw_max"] = std::llround(bw.max);
  json["bw_agg"] = group_kib_per_s > 0 ? std::min(100.0, bw.mean * 100 / group_kib_per_s) : 0.0;
  json["bw_mean"] = bw.mean;
  json["bw_dev"] = bw.deviation;
  json["bw_samples"] = bw.count;
  json["iops_min"] = std::llround(io.min);
  json["iops_max"] = std::llround(io.max);
  json["iops_mean"] = io.mean;
  json["iops_stddev"] = io.deviation;
  json["iops_samples"] = io.count;
}

int64_t runtime_ms(const JobFigures& job) {
  return (job.window_ns + kNsPerMs - 1) / kNsPerMs;
}

}  // namespace

FioGroupRates fio_group_rates(const std::vector<JobFigures>& jobs) {
  FioGroupRates rates;
  std::map<int, std::array<uint64_t, kDirectionCount>> bytes;
  std::map<int, int64_t> longest_ms;
  for (const auto& job : jobs) {
    const int group = job.spec->group;
    longest_ms[group] = std::max(longest_ms[group], runtime_ms(job));
    for (int i = 0; i < kDirectionCount; ++i) bytes[group][i] += job.ops[i].bytes;
    bytes[group][op_index(Op::kTrim)] += job.ops[op_index(Op::kWriteZeroes)].bytes;
  }
  for (const auto& [group, counts] : bytes)
    for (int i = 0; i < kDirectionCount; ++i)
      rates[group][i] = longest_ms[group] > 0 ? static_cast<double>(counts[i]) * 1000 / 1024 /
                                                    static_cast<double>(longest_ms[group])
                                              : 0;
  return rates;
}

Json fio_direction(const JobFigures& job, Op op, const FioGroupRates& rates, bool bins) {
  const OpResult counts = direction_counts(*job.result, op);
  const bool used = counts.ios + counts.error_count() > 0;
  const int64_t runtime = used ? runtime_ms(job) : 0;
  const auto per_second = [&](double amount) {
    return runtime > 0 ? amount * 1000 / static_cast<double>(runtime) : 0.0;
  };
  const auto bytes_per_s = static_cast<uint64_t>(per_second(static_cast<double>(counts.bytes)));
  Json json;
  json["io_bytes"] = counts.bytes;
  json["io_kbytes"] = counts.bytes / 1024;
  json["bw_bytes"] = bytes_per_s;
  json["bw"] = bytes_per_s / 1024;
  json["iops"] = per_second(static_cast<double>(counts.ios));
  json["runtime"] = runtime;
  json["total_ios"] = counts.ios + counts.error_count();
  json["short_ios"] = counts.short_ios;
  json["drop_ios"] = 0;
  json["slat_ns"] = latency(counts.submit);
  json["clat_ns"] = completion_latency(counts, bins);
  json["lat_ns"] = latency(counts.service);
  add_samples(json, job, counts, rates.at(job.spec->group)[op_index(op)]);
  return json;
}

Json fio_sync(const JobFigures& job, bool bins) {
  const OpResult* flushes = job.result->find(Op::kFlush);
  Json json;
  json["total_ios"] = flushes ? flushes->ios + flushes->error_count() : 0;
  json["lat_ns"] = latency(flushes ? flushes->service : Histogram());
  if (flushes) add_percentiles(json["lat_ns"], flushes->service, bins);
  return json;
}

}  // namespace cephmark
