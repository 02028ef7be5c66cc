#include "cli/osd_benchmark.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <functional>
#include <iostream>
#include <memory>

#include "base/error.h"
#include "base/fd.h"
#include "base/time.h"
#include "base/units.h"
#include "ceph/osd_benchmark.h"
#include "cli/failure.h"
#include "cli/headway.h"
#include "cli/session.h"
#include "cli/signals.h"
#include "output/osd_table.h"
#include "output/progress.h"

namespace cephmark {
namespace {

/// An OSD writes for osd_bench_duration at most, and prepares its objects before that.
constexpr int64_t kMargin_ns = 60 * kNsPerSecond;

/// A refusal in `ceph tell`'s words and with its exit code.
class CephTellError : public Error {
 public:
  CephTellError(int error, const std::string& text)
      : Error(fmt::format("Error {}: {}", errno_name(error), text)), errno_(error) {}
  int exit_code() const { return errno_; }

 private:
  int errno_;
};

std::vector<OsdPlace> chosen(const OsdBenchmarkOptions& options, const std::vector<OsdPlace>& all) {
  if (options.target == "all" || options.target == "osd.*") return all;
  const std::string number =
      options.target.starts_with("osd.") ? options.target.substr(4) : options.target;
  int id = -1;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), id);
  if (number.empty() || error != std::errc() || end != number.data() + number.size() || id < 0)
    throw UsageError(fmt::format("'{}' names no OSD", options.target), "osd.3, 3, or all");
  for (const OsdPlace& osd : all)
    if (osd.id == id) return {osd};
  if (options.compat)
    throw CephTellError(ENOENT,
                        fmt::format("problem getting command descriptions from osd.{}", id));
  throw Error(fmt::format("there is no osd.{} in this cluster", id), "see 'ceph osd tree'");
}

OsdBenchShape shape_of(const std::vector<uint64_t>& words) {
  OsdBenchShape shape;
  const auto at = [&](size_t i, uint64_t otherwise) {
    return i < words.size() ? words[i] : otherwise;
  };
  shape.total_bytes = at(0, shape.total_bytes);
  shape.block_bytes = at(1, shape.block_bytes);
  shape.object_bytes = at(2, 0);
  shape.objects = at(3, 0);
  if (shape.block_bytes == 0) throw UsageError("a BLOCK of 0 bytes", "4194304 is the default");
  return shape;
}

std::string shape_text(const OsdBenchShape& shape) {
  return fmt::format("{} in blocks of {}", format_size(shape.total_bytes),
                     format_size(shape.block_bytes));
}

class OsdBench {
 public:
  OsdBench(const OsdBenchmarkOptions& options, std::vector<OsdBenchShape> shapes)
      : options_(options),
        shapes_(std::move(shapes)),
        progress_(std::cerr, progress_options(STDERR_FILENO, options.quiet || options.compat)) {}

  int run() {
    const SignalWatcher signals(stop_);
    cluster_ = Cluster::connect(resolve_ceph_target(options_.ceph));
    const auto osds = chosen(options_, list_osds(*cluster_));
    if (!options_.compat) announce(osds);
    total_ = osds.size() * shapes_.size() * static_cast<size_t>(options_.repeat);
    for (const OsdPlace& osd : osds) {
      if (stop_.stop_requested()) break;
      bench(osd, osds.size());
    }
    progress_.finish();
    if (!options_.compat) tell();
    if (stop_.stop_requested()) return SignalWatcher::exit_code();
    const bool failed = std::any_of(rows_.begin(), rows_.end(),
                                    [](const OsdBenchRow& row) { return !row.failure.empty(); });
    return static_cast<int>(failed ? ExitCode::kIoErrors : ExitCode::kOk);
  }

  bool left_behind() const { return headway_.left_behind(); }

 private:
  void announce(const std::vector<OsdPlace>& osds) {
    std::string what;
    for (const OsdBenchShape& shape : shapes_)
      what += (what.empty() ? "" : ", then ") + shape_text(shape);
    progress_.note(fmt::format(
        "{} OSD{}, one at a time, {} time{} each: {}. Each is busy meanwhile", osds.size(),
        osds.size() == 1 ? "" : "s", options_.repeat, options_.repeat == 1 ? "" : "s", what));
  }

  void bench(const OsdPlace& osd, size_t count) {
    OsdBenchRow& row = rows_.emplace_back();
    row.id = osd.id;
    row.host = osd.host;
    row.device_class = osd.device_class;
    if (!osd.up) {
      row.failure = "it is down";
      if (options_.compat)
        throw CephTellError(
            ENXIO, fmt::format("problem getting command descriptions from osd.{}", osd.id));
      return;
    }
    try {
      const OsdBenchLimits limits = ask<OsdBenchLimits>(
          osd, 0, [id = osd.id](Cluster& cluster) { return read_osd_bench_limits(cluster, id); });
      for (const OsdBenchShape& shape : shapes_)
        if (const auto refusal = refusal_of(shape, limits)) {
          if (options_.compat) throw CephTellError(EINVAL, refusal->ceph_text);
          throw UsageError(refusal->text, refusal->hint);
        }
      if (!options_.compat) {
        const auto capacity = ask<OsdCapacity>(
            osd, 0, [id = osd.id](Cluster& cluster) { return read_osd_capacity(cluster, id); });
        row.scheduler = capacity.scheduler;
        row.capacity_option = capacity.option;
        row.capacity_iops = capacity.iops;
      }
      repeat(osd, limits, row, count);
    } catch (const CephTellError&) {
      throw;
    } catch (const UsageError&) {
      throw;
    } catch (const Error& error) {
      if (options_.compat || headway_.left_behind() || stop_.stop_requested()) throw;
      row.failure = error.what();
    }
  }

  void repeat(const OsdPlace& osd, const OsdBenchLimits& limits, OsdBenchRow& row, size_t count) {
    for (const OsdBenchShape& shape : shapes_)
      for (int i = 0; i < options_.repeat && !stop_.stop_requested(); ++i) {
        progress_.progress(fmt::format("osd.{}: {}", osd.id, shape_text(shape)), done_, total_);
        const auto run = ask<OsdBenchRun>(
            osd, static_cast<int64_t>(limits.duration_s) * kNsPerSecond,
            [id = osd.id, shape](Cluster& cluster) { return bench_osd(cluster, id, shape); });
        ++done_;
        if (options_.compat)
          print(run, count > 1 ? fmt::format("osd.{}: ", osd.id) : "");
        else if (shape.block_bytes < kMiB)
          row.iops.push_back(run.iops);
        else
          row.bytes_per_s.push_back(run.bytes_per_s);
      }
  }

  /// One question to an OSD, which may never answer.
  template <typename Answer>
  Answer ask(const OsdPlace& osd, int64_t works_ns, std::function<Answer(Cluster&)> question) {
    auto answer = std::make_shared<Answer>();
    HeadwayLimits limits;
    limits.silence_ns = works_ns + kMargin_ns;
    headway_.run(
        fmt::format("asking osd.{}", osd.id),
        [answer, question = std::move(question), cluster = cluster_] {
          *answer = question(*cluster);
        },
        limits, stop_.get_token());
    return *answer;
  }

  static void print(const OsdBenchRun& run, const std::string& prefix) {
    std::cout << fmt::format(
                     "{}{{\n    \"bytes_written\": {},\n    \"blocksize\": {},\n"
                     "    \"elapsed_sec\": {:.17g},\n    \"bytes_per_sec\": {:.17g},\n"
                     "    \"iops\": {:.17g}\n}}\n",
                     prefix, run.bytes_written, run.block_bytes, run.elapsed_s, run.bytes_per_s,
                     run.iops)
              << std::flush;
  }

  void tell() {
    const size_t colon = options_.output.find(':');
    const std::string format = options_.output.substr(0, colon);
    const std::string text =
        format == "json" ? osd_bench_json(rows_).dump(2) + "\n" : osd_bench_text(rows_);
    if (colon == std::string::npos)
      std::cout << text << std::flush;
    else
      write_file_atomically(options_.output.substr(colon + 1), text);
  }

  const OsdBenchmarkOptions& options_;
  const std::vector<OsdBenchShape> shapes_;
  std::stop_source stop_;
  Progress progress_;
  Headway headway_;
  std::shared_ptr<Cluster> cluster_;
  std::vector<OsdBenchRow> rows_;
  size_t done_ = 0, total_ = 0;
};

}  // namespace

int run_osd_benchmark(const OsdBenchmarkOptions& options) {
  // In compat one run of what was asked for; else both figures that say something of an OSD.
  std::vector<OsdBenchShape> shapes = {shape_of(options.shape)};
  if (options.shape.empty() && !options.compat) shapes.push_back(kMclockShape);
  auto bench = std::make_unique<OsdBench>(options, std::move(shapes));
  try {
    return bench->run();
  } catch (const CephTellError& error) {
    std::cerr << error.what() << "\n";
    return error.exit_code();
  } catch (...) {
    if (!bench->left_behind()) throw;
    // A thread is at work in it, and in the library, until the process ends.
    static_cast<void>(bench.release());
    const auto failure = std::current_exception();
    report(failure);
    SessionEnd end;
    end.must_exit_hard = true;
    return leave_process(end, code_of(failure));
  }
}

}  // namespace cephmark
