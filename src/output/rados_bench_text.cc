#include "output/rados_bench_text.h"

#include <fmt/format.h>

#include <cmath>

#include "base/units.h"
#include "output/cells.h"

namespace cephmark {
namespace {

std::string seconds_text(int64_t ns) {
  return fmt::format("{:g}", ns / kNsPerS);
}

// "Total time run:         10.0062": labels are padded to 24 columns for writes, 22 for reads.
class Lines {
 public:
  explicit Lines(bool writes) : width_(writes ? 24 : 22) {}
  void add(std::string_view label, const std::string& value) {
    text_ += fmt::format("{:<{}}{}\n", fmt::format("{}:", label), width_, value);
  }
  void add(std::string_view label, double value) { add(label, fmt::format("{:g}", value)); }
  void add_count(std::string_view label, uint64_t value) { add(label, std::to_string(value)); }
  /// One of a spread that may be absent.
  void add(std::string_view label, const std::optional<RadosBenchSpread>& spread,
           double RadosBenchSpread::*part, bool whole = false) {
    if (!spread)
      add(label, std::string("n/a"));
    else
      add(label, whole ? std::floor((*spread).*part + kRounding) : (*spread).*part);
  }
  std::string take() { return std::move(text_); }

 private:
  int width_;
  std::string text_;
};

std::string original_summary(const RadosBenchSummary& summary,
                             const RadosBenchReportOptions& options) {
  using Spread = RadosBenchSpread;
  const bool writes = options.writes;
  Lines lines(writes);
  lines.add("Total time run", summary.seconds);
  lines.add_count(writes ? "Total writes made" : "Total reads made", summary.ops);
  lines.add_count(writes ? "Write size" : "Read size", options.op_size_bytes);
  lines.add_count("Object size", options.object_size_bytes);
  lines.add("Bandwidth (MB/sec)", summary.mib_s);
  if (writes) {
    lines.add("Stddev Bandwidth", summary.mib_s_spread, &Spread::stddev);
    lines.add("Max bandwidth (MB/sec)", summary.mib_s_spread, &Spread::max);
    lines.add("Min bandwidth (MB/sec)", summary.mib_s_spread, &Spread::min);
  }
  lines.add_count("Average IOPS", static_cast<uint64_t>(summary.iops));
  lines.add("Stddev IOPS", summary.iops_spread, &Spread::stddev);
  lines.add("Max IOPS", summary.iops_spread, &Spread::max, true);
  lines.add("Min IOPS", summary.iops_spread, &Spread::min, true);
  const Histogram& latency = summary.latency;
  const bool any = !latency.empty();
  const auto seconds = [&](double ns) { return any ? fmt::format("{:g}", ns / kNsPerS) : "n/a"; };
  lines.add("Average Latency(s)", seconds(latency.mean_ns()));
  if (writes) lines.add("Stddev Latency(s)", seconds(latency.stddev_ns()));
  lines.add("Max latency(s)", seconds(latency.max_ns()));
  lines.add("Min latency(s)", seconds(latency.min_ns()));
  return lines.take();
}

std::string our_summary(const RadosBenchSummary& summary, const RadosBenchReportOptions& options) {
  const Histogram& latency = summary.latency;
  const double bytes_per_s = summary.seconds > 0 ? summary.bytes / summary.seconds : 0;
  std::string text =
      fmt::format("\n{} {} of {} in {}, {} in flight, objects of {}\n", format_count(summary.ops),
                  options.writes ? "writes" : "reads", format_size(options.op_size_bytes),
                  format_duration(std::llround(summary.seconds * kNsPerS)), options.concurrent_ios,
                  format_size(options.object_size_bytes));
  text += fmt::format("  bandwidth  {} MiB/s = {} MB/s = IOPS x {}", mib_text(bytes_per_s),
                      mb_text(bytes_per_s), format_size(options.op_size_bytes));
  if (const auto& spread = summary.mib_s_spread)
    text +=
        fmt::format("; each second: min {}, max {}, standard deviation {} MiB/s",
                    fixed_text(spread->min), fixed_text(spread->max), fixed_text(spread->stddev));
  text += fmt::format("\n  IOPS       {}", iops_text(summary.iops));
  if (const auto& spread = summary.iops_spread)
    text += fmt::format("; each second: min {}, max {}, standard deviation {}",
                        iops_text(spread->min), iops_text(spread->max), iops_text(spread->stddev));
  text += fmt::format("\n  latency    mean {}, min {}, max {}\n", mean_text(latency),
                      latency.empty() ? "-" : format_duration(latency.min_ns()), max_text(latency));
  text += fmt::format("             p50 {}, p90 {}, p95 {}, p99 {}, p99.9 {}, p99.99 {}\n",
                      quantile_text(latency, 0.5), quantile_text(latency, 0.9),
                      quantile_text(latency, 0.95), quantile_text(latency, 0.99),
                      quantile_text(latency, 0.999), quantile_text(latency, 0.9999));
  if (summary.errors > 0) text += fmt::format("  errors     {}\n", format_count(summary.errors));
  return text;
}

}  // namespace

std::string rados_bench_opening(const RadosBenchReportOptions& options) {
  std::string text;
  if (options.compat) text = fmt::format("hints = {}\n", options.hints ? 1 : 0);
  if (!options.writes) return text;
  const std::string limit = options.seconds < 0 ? "max" : fmt::format("{}", options.seconds);
  if (options.compat)
    return text + fmt::format(
                      "Maintaining {} concurrent writes of {} bytes to objects of size {} for up "
                      "to {} seconds or {} objects\nObject prefix: {}\n",
                      options.concurrent_ios, options.op_size_bytes, options.object_size_bytes,
                      limit, options.max_objects, options.object_prefix);
  std::string until = options.seconds < 0 ? "" : fmt::format(" for up to {} s", options.seconds);
  if (options.max_objects > 0)
    until += fmt::format("{} {} objects", until.empty() ? " up to" : " or", options.max_objects);
  return fmt::format("{} writes of {} in flight, objects of {} named {}_object*{}\n",
                     options.concurrent_ios, format_size(options.op_size_bytes),
                     format_size(options.object_size_bytes), options.object_prefix, until);
}

std::string rados_bench_heading(bool compat) {
  return fmt::format("{:>5}{:>8}{:>10}{:>10}{:>10}{:>10}{:>12}{:>12}\n", "sec", "Cur ops",
                     "started", "finished", compat ? "avg MB/s" : "avg MiB/s",
                     compat ? "cur MB/s" : "cur MiB/s", compat ? "last lat(s)" : "cur lat ms",
                     compat ? "avg lat(s)" : "avg lat ms");
}

std::string rados_bench_row_text(const RadosBenchRow& row, bool compat) {
  const bool idle = !row.latency_s;
  const auto latency = [&](double seconds) {
    return compat ? fmt::format("{:g}", seconds) : fmt::format("{:.3f}", seconds * 1e3);
  };
  const auto bandwidth = [&](double mib_s) {
    return compat ? fmt::format("{:g}", mib_s) : fmt::format("{:.2f}", mib_s);
  };
  return fmt::format("{:>5}{:>8}{:>10}{:>10}{:>10}{:>10}{:>12}{:>12}\n", row.second, row.in_flight,
                     row.started, row.finished, bandwidth(row.mean_mib_s),
                     bandwidth(row.current_mib_s), idle ? "-" : latency(*row.latency_s),
                     row.second == 0 && compat ? "0" : latency(row.mean_latency_s));
}

std::string rados_bench_latencies(const Histogram& latency) {
  return fmt::format("min lat: {} max lat: {} avg lat: {:g}", seconds_text(latency.min_ns()),
                     seconds_text(latency.max_ns()), latency.mean_ns() / kNsPerS);
}

std::string rados_bench_summary_text(const RadosBenchSummary& summary,
                                     const RadosBenchReportOptions& options) {
  return options.compat ? original_summary(summary, options) : our_summary(summary, options);
}

}  // namespace cephmark
