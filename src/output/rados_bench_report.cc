#include "output/rados_bench_report.h"

#include <fmt/format.h>

#include <ctime>
#include <sstream>

#include "base/time.h"
#include "output/rados_bench_document.h"
#include "output/rados_bench_figures.h"
#include "output/rados_bench_text.h"

namespace cephmark {
namespace {

constexpr size_t kRowsPerHeading = 20;

class RadosBenchReport final : public Writer {
 public:
  RadosBenchReport(std::ostream& out, const RadosBenchReportOptions& options)
      : out_(out), options_(options), rows_(options.op_size_bytes) {}

  void begin(const Plan&) override {
    if (!plain()) return;
    std::istringstream lines(rados_bench_opening(options_));
    for (std::string line; std::getline(lines, line);)
      out_ << (line.starts_with("hints") ? "" : time_prefix()) << line << "\n";
    out_ << std::flush;
  }

  void tick(const TickSample& sample) override {
    // Ticks begin a second after the load: what its first second began with is its depth.
    if (rows_.rows().empty()) show(rows_.first(options_.concurrent_ios));
    if (const auto row = rows_.add(sample)) show(*row);
  }

  void end(const RunResult& result) override {
    const RadosBenchSummary summary = rados_bench_summary(
        result, options_.writes ? Op::kWrite : Op::kRead, options_.op_size_bytes, rows_.rows());
    if (plain()) {
      out_ << time_prefix() << rados_bench_summary_text(summary, options_);
    } else {
      const Json document = rados_bench_json(summary, rows_.rows(), options_);
      if (options_.format == RadosBenchFormat::kXml)
        out_ << rados_bench_xml(document) << "\n";
      else
        out_ << document.dump(options_.format == RadosBenchFormat::kJsonPretty ? 4 : -1) << "\n";
    }
    out_ << std::flush;
  }

 private:
  bool plain() const { return options_.format == RadosBenchFormat::kPlain; }
  std::string now() const {
    return ceph_time_text(options_.wall_ns ? options_.wall_ns() : wall_ns());
  }
  std::string time_prefix() const { return options_.show_time ? now() + " " : ""; }

  void show(const RadosBenchRow& row) {
    if (!plain()) return;
    if (shown_ % kRowsPerHeading == 0) {
      if (shown_ > 0 && options_.compat)
        out_ << now() << " " << rados_bench_latencies(rows_.latencies()) << "\n";
      out_ << time_prefix() << rados_bench_heading(options_.compat);
    }
    ++shown_;
    out_ << time_prefix() << rados_bench_row_text(row, options_.compat) << std::flush;
  }

  std::ostream& out_;
  const RadosBenchReportOptions options_;
  RadosBenchRows rows_;
  size_t shown_ = 0;
};

}  // namespace

std::string ceph_time_text(int64_t wall_ns) {
  const time_t seconds = wall_ns / 1'000'000'000;
  std::tm parts{};
  localtime_r(&seconds, &parts);
  char day[32], zone[8];
  std::strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &parts);
  std::strftime(zone, sizeof zone, "%z", &parts);
  return fmt::format("{}.{:06}{}", day, wall_ns % 1'000'000'000 / 1000, zone);
}

std::unique_ptr<Writer> make_rados_bench_report(std::ostream& out,
                                                const RadosBenchReportOptions& options) {
  return std::make_unique<RadosBenchReport>(out, options);
}

}  // namespace cephmark
