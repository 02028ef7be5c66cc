// One row per VM, job and kind of I/O; the unit stands in each heading. Empty cells for what is not
// known (RFC 4180).
#include <fmt/format.h>

#include "base/error.h"
#include "base/time.h"
#include "base/units.h"
#include "output/writers.h"
#include "result/figures.h"

namespace cephmark {
namespace {

constexpr double kColumnQuantiles[] = {0.5, 0.9, 0.99, 0.999, 0.9999};

constexpr std::string_view kHeader =
    "result_id,start_utc,vm,vm_index,host,vm_group,job,stage,op,ioengine,block_size_min_bytes,"
    "block_size_max_bytes,iodepth,numjobs,window_s,ios,bytes,iops,bandwidth_bytes_per_s,"
    "bandwidth_mib_per_s,bandwidth_mb_per_s,response_min_ns,response_mean_ns,response_p50_ns,"
    "response_p90_ns,response_p99_ns,response_p99_9_ns,response_p99_99_ns,response_max_ns,"
    "service_min_ns,service_mean_ns,service_p50_ns,service_p90_ns,service_p99_ns,service_p99_9_ns,"
    "service_p99_99_ns,service_max_ns,achieved_depth,late_ios,short_ios,errors,error_codes,"
    "failure\n";

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

std::string latency_cells(const Histogram& histogram) {
  if (histogram.empty()) return std::string(8, ',');
  std::string cells = fmt::format(",{},{:.1f}", histogram.min_ns(), histogram.mean_ns());
  for (const double q : kColumnQuantiles) cells += fmt::format(",{}", histogram.quantile_ns(q));
  return cells + fmt::format(",{}", histogram.max_ns());
}

std::string error_cell(const std::map<int, uint64_t>& errors) {
  std::string text;
  for (const auto& [code, count] : errors)
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", errno_name(code), count);
  return text;
}

class CsvWriter final : public Writer {
 public:
  explicit CsvWriter(std::ostream& out) : out_(out) {}

  void end(const RunResult& result) override {
    out_ << kHeader;
    for (const auto& job : figures_of(result).jobs) {
      int rows = 0;
      for (int i = 0; i < kOpCount; ++i)
        if (job.result->ops[i]) {
          write_row(result, job, i);
          ++rows;
        }
      if (rows == 0) write_row(result, job, -1);
    }
  }

 private:
  /// op -1: a job that issued nothing still has its row.
  void write_row(const RunResult& result, const JobFigures& job, int op) {
    static const OpResult kNothing;
    const OpResult& counts = op < 0 ? kNothing : *job.result->ops[op];
    const Rate rate = op < 0 ? Rate{} : job.ops[op];
    const bool has_size = op >= 0 && op < kDirectionCount;
    const BlockSizes sizes = has_size ? job.spec->block_sizes[op] : BlockSizes{};
    const auto known = [](bool is, const std::string& text) { return is ? text : std::string(); };
    const bool measured = job.window_ns > 0;
    const double window_s = static_cast<double>(job.window_ns) / kNsPerSecond;
    const double depth =
        measured ? counts.service.sum_ns() / static_cast<double>(job.window_ns) : 0;
    out_ << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}", csv_cell(result.id),
                        known(result.start_wall_ns > 0, utc_time_text(result.start_wall_ns)),
                        csv_cell(job.vm_plan->name), job.vm_plan->index,
                        csv_cell(job.vm_plan->host), csv_cell(job.vm_plan->group),
                        csv_cell(job.spec->name), job.spec->stage,
                        op < 0 ? std::string_view() : kOpNames[op], job.spec->ioengine,
                        known(has_size, std::to_string(sizes.min_bytes)),
                        known(has_size, std::to_string(sizes.max_bytes)), job.spec->iodepth,
                        job.spec->numjobs)
         << fmt::format(",{},{},{}", known(measured, fmt::format("{:.6f}", window_s)), counts.ios,
                        counts.bytes)
         << fmt::format(",{},{},{},{}", known(measured, fmt::format("{:.3f}", rate.iops)),
                        known(measured, fmt::format("{:.3f}", rate.bytes_per_s)),
                        known(measured, fmt::format("{:.6f}", rate.bytes_per_s / kMiB)),
                        known(measured, fmt::format("{:.6f}", rate.bytes_per_s / 1e6)))
         << latency_cells(counts.response) << latency_cells(counts.service)
         << fmt::format(",{},{},{},{},{},{}\n", known(measured, fmt::format("{:.3f}", depth)),
                        counts.late, counts.short_ios, counts.error_count(),
                        error_cell(counts.errors), csv_cell(job.result->failure));
  }

  std::ostream& out_;
};

}  // namespace

std::unique_ptr<Writer> make_csv_writer(std::ostream& out, const WriterOptions&) {
  return std::make_unique<CsvWriter>(out);
}

}  // namespace cephmark
