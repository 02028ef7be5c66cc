#include "output/sysbench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
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

/// What sysbench counts: its fsyncs at the end stand in the rate of fsyncs only, and an fsync
/// behind each write is part of that write.
struct Counts {
  explicit Counts(const RunResult& result)
      : reads(result.total(Op::kRead)),
        writes(result.total(Op::kWrite)),
        flushes(result.total(Op::kFlush)),
        fsyncs(flushes.ios),
        ns(result.measured_ns) {
    for (size_t vm = 0; vm < result.vms.size(); ++vm)
      for (const JobResult& job : result.vms[vm].jobs) {
        end_fsyncs += job.end_flushes;
        end_fsync_ns = std::max(end_fsync_ns, job.end_flush_ns);
      }
    if (flushes_each_write(result.plan)) fsyncs += writes.ios;
    fsyncs += end_fsyncs;
    ns += end_fsync_ns;  // sysbench's time ends with them
  }
  static bool flushes_each_write(const Plan& plan) {
    return !plan.vms.empty() && !plan.vms[0].jobs.empty() && plan.vms[0].jobs[0].flush_each_write;
  }
  uint64_t events() const { return reads.ios + writes.ios + flushes.ios; }

  OpResult reads, writes, flushes;
  uint64_t fsyncs = 0, end_fsyncs = 0;
  int64_t end_fsync_ns = 0;
  int64_t ns = 0;
};

/// The first I/O that failed, as sysbench tells what ends it; empty: none did.
std::string failure_text(const RunResult& result, const SysbenchReportOptions& options) {
  for (const VmResult& vm : result.vms)
    for (const JobResult& job : vm.jobs) {
      if (job.error_samples.empty()) continue;
      const ErrorSample& sample = job.error_samples.front();
      if (sample.error == EILSEQ)
        return (options.tell_mismatch ? options.tell_mismatch(sample) : "") +
               fmt::format("FATAL: Validation failed on file {}, block offset {}, exiting...\n",
                           sample.file, sample.offset);
      const std::string reason =
          fmt::format("errno = {} ({})", sample.error, std::strerror(sample.error));
      if (sample.op == Op::kFlush)
        return fmt::format("FATAL: Failed to fsync file! file: {} {}\n", sample.file, reason);
      return fmt::format("FATAL: Failed to {} file! file: {} pos: {} {}\n", op_name(sample.op),
                         sample.file, sample.offset, reason);
    }
  return "";
}

class SysbenchReport final : public Writer {
 public:
  SysbenchReport(std::ostream& out, const SysbenchReportOptions& options)
      : out_(out), options_(options) {}

  void begin(const Plan& plan) override {
    flushes_each_write_ = Counts::flushes_each_write(plan);
    out_ << "Threads started!\n\n" << std::flush;
  }

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
                per_second(ios_[op_index(flushes_each_write_ ? Op::kWrite : Op::kFlush)],
                           interval_ns_),
                options_.percentile,
                SysbenchHistogram(response_).percentile_ms(options_.percentile))
         << std::flush;
    interval_ns_ = 0;
    ios_.fill(0);
    bytes_.fill(0);
    response_ = Histogram();
  }

  void end(const RunResult& result) override {
    if (const std::string failure = failure_text(result, options_); !failure.empty()) {
      out_ << failure << std::flush;
      return;
    }
    const SysbenchHistogram buckets(result.fleet_response);
    const Counts counts(result);
    if (options_.histogram)
      out_ << "Latency histogram (values are in milliseconds)\n"
              "       value  ------------- distribution ------------- count\n"
           << buckets.rows() << " \n";
    out_ << (options_.new_layout ? new_throughput(counts) : old_throughput(counts))
         << latency(result, buckets);
    if (!options_.new_layout) out_ << fairness(result);
    if (options_.extra) out_ << extra(counts);
    out_ << std::flush;
  }

 private:
  static std::string old_throughput(const Counts& counts) {
    const OpResult& reads = counts.reads;
    const OpResult& writes = counts.writes;
    const int64_t ns = counts.ns;
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
        per_second(reads.ios, ns), per_second(writes.ios, ns), per_second(counts.fsyncs, ns),
        per_second(reads.bytes, ns) / kBytesPerMiB, per_second(writes.bytes, ns) / kBytesPerMiB,
        static_cast<double>(ns) / 1e9, counts.events());
  }

  static std::string new_throughput(const Counts& counts) {
    const int64_t ns = counts.ns;
    const auto line = [&](const char* name, const OpResult& total) {
      const double bytes = per_second(total.bytes, ns);
      return fmt::format("{:>15} IOPS={:4.2f} {:4.2f} MiB/s ({:4.2f} MB/s)\n", name,
                         per_second(total.ios, ns), bytes / kBytesPerMiB, bytes / 1e6);
    };
    return fmt::format("\nThroughput:\n{}{}         fsync: IOPS={:4.2f}\n\n",
                       line("read: ", counts.reads), line("write:", counts.writes),
                       per_second(counts.fsyncs, ns));
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

  static std::string extra(const Counts& counts) {
    std::string text;
    const std::array kinds = {std::pair{&counts.reads, "read"}, std::pair{&counts.writes, "write"},
                              std::pair{&counts.flushes, "fsync"}};
    for (const auto& [total, name] : kinds) {
      if (total->response.empty()) continue;
      text += fmt::format("    {:<6}", name);
      constexpr std::array kShares = {std::pair{0.5, "p50"}, std::pair{0.9, "p90"},
                                      std::pair{0.99, "p99"}, std::pair{0.999, "p99.9"},
                                      std::pair{0.9999, "p99.99"}};
      for (const auto& [share, label] : kShares)
        text += fmt::format(" {} {:.3f}", label,
                            ms(static_cast<double>(total->response.quantile_ns(share))));
      text += fmt::format(" max {:.3f}\n", ms(static_cast<double>(total->response.max_ns())));
    }
    if (!text.empty()) text = "Latency of each kind (ms):\n" + text + "\n";
    if (counts.end_fsyncs > 0)
      text += fmt::format("Final fsync: {} calls, {:.4f}s of the total time\n\n", counts.end_fsyncs,
                          static_cast<double>(counts.end_fsync_ns) / 1e9);
    return text;
  }

  std::ostream& out_;
  const SysbenchReportOptions options_;
  bool flushes_each_write_ = false;
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
