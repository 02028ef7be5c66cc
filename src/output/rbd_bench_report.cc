#include "output/rbd_bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "base/units.h"
#include "output/cells.h"
#include "output/ceph_text.h"

namespace cephmark {
namespace {

/// OPS/SEC and BYTES/SEC of a row are those of so many rows.
constexpr size_t kWindow = 5;
/// Ticks come about each second: a row's second is through when this share of it is.
constexpr double kNearly_s = 0.9;

struct Amount {
  uint64_t ios = 0, bytes = 0;
  double seconds = 0;

  void add(const Amount& more) {
    ios += more.ios;
    bytes += more.bytes;
    seconds += more.seconds;
  }
  double ios_per_s() const { return seconds > 0 ? static_cast<double>(ios) / seconds : 0; }
  std::string bytes_per_s() const {
    return ceph_size_text(seconds > 0 ? static_cast<uint64_t>(static_cast<double>(bytes) / seconds)
                                      : 0);
  }
};

class RbdBenchReport final : public Writer {
 public:
  RbdBenchReport(std::ostream& out, const RbdBenchReportOptions& options)
      : out_(out), options_(options) {}

  void begin(const Plan&) override {
    const char* type = !options_.writes ? "read" : options_.reads ? "readwrite" : "write";
    out_ << fmt::format("bench  type {}", type);
    if (options_.reads && options_.writes)
      out_ << fmt::format(" read:write={}:{}", options_.read_percent, 100 - options_.read_percent);
    out_ << fmt::format(" io_size {} io_threads {}", options_.io_size_bytes, options_.io_threads);
    if (options_.total_is_limit) out_ << fmt::format(" bytes {}", options_.io_total_bytes);
    out_ << fmt::format(" pattern {}\n  SEC       OPS   OPS/SEC   BYTES/SEC\n", options_.pattern)
         << std::flush;
  }

  void tick(const TickSample& sample) override {
    for (Op op : {Op::kRead, Op::kWrite}) {
      current_.ios += sample.ios[op_index(op)];
      current_.bytes += sample.bytes[op_index(op)];
    }
    current_.seconds += static_cast<double>(sample.interval_ns) / 1e9;
    if (current_.seconds < kNearly_s) return;
    done_ += current_.ios;
    recent_.push_back(current_);
    if (recent_.size() > kWindow) recent_.pop_front();
    Amount window;
    for (const Amount& amount : recent_) window.add(amount);
    out_ << fmt::format("{:>5}  {:>8}  {:>8}  {:>8}/s\n",
                        static_cast<int64_t>(static_cast<double>(sample.at_ns) / 1e9 + 0.5), done_,
                        fmt::format("{:g}", window.ios_per_s()), window.bytes_per_s())
         << std::flush;
    current_ = {};
  }

  void end(const RunResult& result) override {
    const OpResult reads = result.total(Op::kRead), writes = result.total(Op::kWrite);
    const double seconds = static_cast<double>(elapsed_ns(result)) / 1e9;
    const Amount all{reads.ios + writes.ios, reads.bytes + writes.bytes, seconds};
    out_ << fmt::format("elapsed: {}   ops: {}   ops/sec: {:g}   bytes/sec: {}/s\n",
                        static_cast<int64_t>(seconds), all.ios, all.ios_per_s(), all.bytes_per_s());
    if (options_.reads && options_.writes) {
      show_part("read", {reads.ios, reads.bytes, seconds});
      show_part("write", {writes.ios, writes.bytes, seconds});
    }
    if (!options_.compat) out_ << "\n" << latencies(result) << flush_line(result);
    for (const auto& [name, part] : {std::pair{"read", &reads}, std::pair{"write", &writes}})
      for (const auto& [error, count] : part->errors)
        out_ << fmt::format("{} error: {}\n", name, ceph_errno_text(error))
             << (count > 1 ? fmt::format("  ({} of them)\n", count) : "");
    out_ << std::flush;
  }

 private:
  void show_part(const char* name, const Amount& part) {
    out_ << fmt::format("{0}_ops: {1}   {0}_ops/sec: {2:g}   {0}_bytes/sec: {3}/s\n", name,
                        part.ios, part.ios_per_s(), part.bytes_per_s());
  }

  // The flush behind the last write counts: until then a cache may hold what was written.
  int64_t elapsed_ns(const RunResult& result) const {
    int64_t first = INT64_MAX, last = 0;
    for (const PhaseSpan& phase : result.phases) {
      if (phase.kind == PhaseKind::kMeasure) first = std::min(first, phase.start_ns);
      if (phase.kind == PhaseKind::kMeasure || phase.kind == PhaseKind::kDrain)
        last = std::max(last, phase.end_ns);
    }
    return options_.writes && last > first ? last - first : result.measured_ns;
  }

  std::string flush_line(const RunResult& result) const {
    const int64_t flush_ns = elapsed_ns(result) - result.measured_ns;
    return options_.writes && flush_ns > 0
               ? fmt::format("until all was flushed: {} more, in the time above\n",
                             format_duration(flush_ns))
               : "";
  }

  static std::string latencies(const RunResult& result) {
    TextTable table({"latency", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "max"}, 1);
    bool few = false;
    for (Op op : {Op::kRead, Op::kWrite}) {
      const OpResult all = result.total(op);
      const Histogram& histogram = all.response;
      if (histogram.count() == 0) continue;
      std::vector<std::string> row = latency_text_cells(histogram);
      row.insert(row.begin(), std::string(op_name(op)));
      few |= has_marked_cell(histogram);
      table.add(std::move(row));
    }
    return table.text() + (few ? fmt::format("{}\n", kFewSamplesNote) : "");
  }

  std::ostream& out_;
  const RbdBenchReportOptions options_;
  Amount current_;
  std::deque<Amount> recent_;
  uint64_t done_ = 0;
};

}  // namespace

std::unique_ptr<Writer> make_rbd_bench_report(std::ostream& out,
                                              const RbdBenchReportOptions& options) {
  return std::make_unique<RbdBenchReport>(out, options);
}

}  // namespace cephmark
