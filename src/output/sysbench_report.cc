#include "output/sysbench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/units.h"
#include "output/sysbench_histogram.h"

namespace cephmark {
namespace {

constexpr double kBytesPerMiB = kMiB;
/// Ticks come about each second: an interval is through when this share of it is.
constexpr double kNearly = 0.9;

double ms(double ns) {
  return ns / 1e6;
}

double per_second(uint64_t count, int64_t ns) {
  return ns > 0 ? static_cast<double>(count) * 1e9 / static_cast<double>(ns) : 0;
}

/// One sysbench thread: a clone, or a job of one.
struct Thread {
  uint64_t events = 0;
  double busy_s = 0;
};

Thread thread_of(const JobResult& lane) {
  Thread thread;
  for (const auto& op : lane.ops)
    if (op) {
      thread.events += op->response.count();
      thread.busy_s += op->response.sum_ns() / 1e9;
    }
  return thread;
}

std::vector<Thread> threads_of(const RunResult& result) {
  std::vector<Thread> threads;
  for (const VmResult& vm : result.vms)
    for (const JobResult& job : vm.jobs)
      for (const JobResult& clone : job.each_clone()) threads.push_back(thread_of(clone));
  return threads;
}

template <typename Value>
std::string average_and_deviation(const std::vector<Thread>& threads, Value value,
                                  const char* layout) {
  double sum = 0, squares = 0;
  for (const Thread& thread : threads) sum += value(thread);
  const double count = std::max<double>(1, static_cast<double>(threads.size()));
  const double average = sum / count;
  for (const Thread& thread : threads) squares += std::pow(value(thread) - average, 2);
  return fmt::format(fmt::runtime(layout), average, std::sqrt(squares / count));
}

class SysbenchReport final : public Writer {
 public:
  SysbenchReport(std::ostream& out, const SysbenchReportOptions& options)
      : out_(out), options_(options) {}

  void begin(const Plan&) override { out_ << "Threads started!\n\n" << std::flush; }

  void tick(const TickSample& sample) override {
    // The last tick of a run comes when it drains already, and tells of what was measured.
    if (options_.report_interval_ns == 0 || sample.phase == PhaseKind::kWarmup) return;
    interval_ns_ += sample.interval_ns;
    for (int op = 0; op < kOpCount; ++op) {
      ios_[op] += sample.ios[op];
      bytes_[op] += sample.bytes[op];
    }
    response_.merge(sample.response);
    if (static_cast<double>(interval_ns_) <
        kNearly * static_cast<double>(options_.report_interval_ns))
      return;
    const auto rate = [&](Op op) {
      return per_second(bytes_[op_index(op)], interval_ns_) / kBytesPerMiB;
    };
    out_ << fmt::format(
                "[ {:.0f}s ] reads: {:.2f} MiB/s writes: {:.2f} MiB/s fsyncs: {:.2f}/s latency "
                "(ms,{}%): {:.3f}\n",
                static_cast<double>(sample.at_ns) / 1e9, rate(Op::kRead), rate(Op::kWrite),
                per_second(ios_[op_index(Op::kFlush)], interval_ns_), options_.percentile,
                SysbenchHistogram(response_).percentile_ms(options_.percentile))
         << std::flush;
    interval_ns_ = 0;
    ios_.fill(0);
    bytes_.fill(0);
    response_ = Histogram();
  }

  void end(const RunResult& result) override {
    const SysbenchHistogram buckets(result.fleet_response);
    if (options_.histogram)
      out_ << "Latency histogram (values are in milliseconds)\n"
              "       value  ------------- distribution ------------- count\n"
           << buckets.rows() << " \n";
    out_ << (options_.new_layout ? new_throughput(result) : old_throughput(result))
         << latency(result, buckets);
    if (!options_.new_layout) out_ << fairness(result);
    if (options_.extra) out_ << extra(result);
    out_ << std::flush;
  }

 private:
  static std::string old_throughput(const RunResult& result) {
    const OpResult reads = result.total(Op::kRead), writes = result.total(Op::kWrite),
                   syncs = result.total(Op::kFlush);
    const int64_t ns = result.measured_ns;
    return fmt::format(
        "\nFile operations:\n"
        "    reads/s:                      {:.2f}\n"
        "    writes/s:                     {:.2f}\n"
        "    fsyncs/s:                     {:.2f}\n\n"
        "Throughput:\n"
        "    read, MiB/s:                  {:.2f}\n"
        "    written, MiB/s:               {:.2f}\n\n"
        "General statistics:\n"
        "    total time:                          {:.4f}s\n"
        "    total number of events:              {}\n\n",
        per_second(reads.ios, ns), per_second(writes.ios, ns), per_second(syncs.ios, ns),
        per_second(reads.bytes, ns) / kBytesPerMiB, per_second(writes.bytes, ns) / kBytesPerMiB,
        static_cast<double>(ns) / 1e9, reads.ios + writes.ios + syncs.ios);
  }

  static std::string new_throughput(const RunResult& result) {
    const int64_t ns = result.measured_ns;
    const auto line = [&](const char* name, Op op) {
      const OpResult total = result.total(op);
      const double bytes = per_second(total.bytes, ns);
      return fmt::format("{:>15} IOPS={:4.2f} {:4.2f} MiB/s ({:4.2f} MB/s)\n", name,
                         per_second(total.ios, ns), bytes / kBytesPerMiB, bytes / 1e6);
    };
    return fmt::format("\nThroughput:\n{}{}         fsync: IOPS={:4.2f}\n\n",
                       line("read: ", Op::kRead), line("write:", Op::kWrite),
                       per_second(result.total(Op::kFlush).ios, ns));
  }

  std::string latency(const RunResult& result, const SysbenchHistogram& buckets) const {
    const Histogram& all = result.fleet_response;
    std::string text = fmt::format(
        "Latency (ms):\n"
        "         min:                              {:10.2f}\n"
        "         avg:                              {:10.2f}\n"
        "         max:                              {:10.2f}\n",
        ms(static_cast<double>(all.min_ns())), ms(all.mean_ns()),
        ms(static_cast<double>(all.max_ns())));
    if (options_.percentile > 0)
      text += fmt::format("        {:3}th percentile:                  {:10.2f}\n",
                          options_.percentile, buckets.percentile_ms(options_.percentile));
    else
      text += "         percentile stats:               disabled\n";
    return text +
           fmt::format("         sum:                              {:10.2f}\n\n", ms(all.sum_ns()));
  }

  static std::string fairness(const RunResult& result) {
    const std::vector<Thread> threads = threads_of(result);
    return "Threads fairness:\n    events (avg/stddev):           " +
           average_and_deviation(
               threads, [](const Thread& one) { return static_cast<double>(one.events); },
               "{:.4f}/{:3.2f}\n") +
           "    execution time (avg/stddev):   " +
           average_and_deviation(
               threads, [](const Thread& one) { return one.busy_s; }, "{:.4f}/{:3.2f}\n\n");
  }

  static std::string extra(const RunResult& result) {
    std::string text;
    constexpr std::array kKinds = {std::pair{Op::kRead, "read"}, std::pair{Op::kWrite, "write"},
                                   std::pair{Op::kFlush, "fsync"}};
    for (const auto& [op, name] : kKinds) {
      const OpResult total = result.total(op);
      if (total.response.empty()) continue;
      text += fmt::format("    {:<6}", name);
      constexpr std::array kShares = {std::pair{0.5, "p50"}, std::pair{0.9, "p90"},
                                      std::pair{0.99, "p99"}, std::pair{0.999, "p99.9"},
                                      std::pair{0.9999, "p99.99"}};
      for (const auto& [share, label] : kShares)
        text += fmt::format(" {} {:.3f}", label,
                            ms(static_cast<double>(total.response.quantile_ns(share))));
      text += fmt::format(" max {:.3f}\n", ms(static_cast<double>(total.response.max_ns())));
    }
    return text.empty() ? "" : "Latency of each kind (ms):\n" + text + "\n";
  }

  std::ostream& out_;
  const SysbenchReportOptions options_;
  int64_t interval_ns_ = 0;
  std::array<uint64_t, kOpCount> ios_{}, bytes_{};
  Histogram response_;
};

}  // namespace

std::unique_ptr<Writer> make_sysbench_report(std::ostream& out,
                                             const SysbenchReportOptions& options) {
  return std::make_unique<SysbenchReport>(out, options);
}

}  // namespace cephmark
