#include "compat/sysbench_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/time.h"
#include "compat/sysbench_files.h"

namespace cephmark {
namespace {

constexpr int64_t kEndless_ns = int64_t{10} * 365 * 86'400 * kNsPerSecond;
constexpr uint64_t kZones = 100;
constexpr int kExactTerms = 20;  ///< above, the sum loses its digits, and is a normal by then

double normal_cdf(double x, double deviation) {
  return 0.5 * std::erfc((0.5 - x) / (deviation * std::sqrt(2.0)));
}

/// The share below x of the mean of n uniform numbers (Irwin-Hall).
double mean_of_uniforms_cdf(double x, int n) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > 0.5) return 1 - mean_of_uniforms_cdf(1 - x, n);
  if (n > kExactTerms) return normal_cdf(x, std::sqrt(1.0 / (12.0 * n)));
  double sum = 0, binomial = 1;
  for (int k = 0; k <= std::floor(n * x); ++k) {
    sum += (k % 2 ? -1 : 1) * binomial * std::pow(n * x - k, n);
    binomial = binomial * (n - k) / (k + 1);
  }
  return std::clamp(sum / std::tgamma(n + 1.0), 0.0, 1.0);
}

double cdf(const SysbenchArguments& arguments, double x) {
  const int iterations = std::max(1, arguments.rand_spec_iter);
  if (arguments.rand_type == "pareto") {
    const double h = arguments.rand_pareto_h;
    return std::pow(x, std::log(1 - h) / std::log(h));
  }
  if (arguments.rand_type == "gaussian") return mean_of_uniforms_cdf(x, iterations);
  const double special = std::clamp(arguments.rand_spec_res / 100.0, 0.0, 1.0);
  const double width = std::clamp(arguments.rand_spec_pct / 100.0, 0.0, 1.0);
  const double inside =
      width == 0 ? (x > 0.5) : std::clamp((x - 0.5 + width / 2) / width, 0.0, 1.0);
  return special * inside + (1 - special) * mean_of_uniforms_cdf(x, iterations);
}

void set_pattern(const SysbenchArguments& arguments, JobSpec& job) {
  const SysbenchFileOptions& file = arguments.file;
  const SysbenchMode mode = file.mode();
  job.rw.random = mode >= SysbenchMode::kRndRd;
  job.rw.reads =
      mode == SysbenchMode::kSeqRd || mode == SysbenchMode::kRndRd || mode == SysbenchMode::kRndRw;
  job.rw.writes = mode != SysbenchMode::kSeqRd && mode != SysbenchMode::kRndRd;
  job.rw.name = std::string(job.rw.random ? "rand" : "") + (!job.rw.writes  ? "read"
                                                            : !job.rw.reads ? "write"
                                                                            : "rw");
  const uint64_t in_file = sysbench_region_bytes(arguments);
  job.size = {SizeSpec::Kind::kBytes, in_file * static_cast<uint64_t>(file.num)};
  const uint64_t merged =
      job.rw.random ? 1 : static_cast<uint64_t>(std::max(1, file.merged_requests));
  for (BlockSizes& sizes : job.block_sizes)
    sizes.min_bytes = sizes.max_bytes = std::min(file.block_bytes * merged, in_file);
  job.file_service_type = FileService::kSequential;
  // As a float, which sysbench keeps it in: 0.3 is a little more then, and 3 of 10 are less.
  if (mode == SysbenchMode::kRndRw) job.rw_ratio = static_cast<float>(file.rw_ratio);
  job.norandommap = true;
  if (job.rw.random) job.random_distribution.fill(sysbench_distribution(arguments));
  job.randrepeat = false;
  if (arguments.rand_seed != 0) job.randseed = static_cast<uint64_t>(arguments.rand_seed);
}

void set_flushes(const SysbenchFileOptions& file, JobSpec& job) {
  job.flush_data_only = file.fsync_mode == "fdatasync";
  if (!job.rw.writes) return;
  job.flush_each_write = file.fsync_all;
  if (file.fsync_all) return;
  job.flush_all = file.fsync_freq;
  job.end_fsync = file.fsync_end;
}

JobSpec job_of(const SysbenchArguments& arguments) {
  const SysbenchFileOptions& file = arguments.file;
  JobSpec job;
  job.name = "fileio";
  job.source = "command line";
  constexpr std::array kEngines = {"psync", "libaio", "mmap"};
  job.ioengine = kEngines[static_cast<size_t>(file.io())];
  for (int i = 0; i < file.num; ++i) job.filenames.push_back(sysbench_file_name(i));
  job.nrfiles = file.num;
  job.direct = file.direct;
  job.sync = file.sync ? SyncWrites::kSync : file.dsync ? SyncWrites::kDsync : SyncWrites::kNone;
  job.invalidate = false;  // sysbench reads what the page cache has
  job.grow_files = file.mode() == SysbenchMode::kSeqWr && file.io() != SysbenchIo::kMmap;
  set_pattern(arguments, job);
  set_flushes(file, job);
  job.numjobs = arguments.threads;
  job.clones_share = true;
  job.number_ios = static_cast<uint64_t>(arguments.events);
  if (file.io() == SysbenchIo::kAsync) job.iodepth = static_cast<unsigned>(file.async_backlog);
  if (arguments.rate > 0) {
    job.rate_process = RateProcess::kPoisson;
    job.event_rate = static_cast<double>(arguments.rate) / arguments.threads;
  }
  job.ramp_time_ns = arguments.warmup_time_s * kNsPerSecond;
  job.runtime_ns = arguments.time_s > 0 ? arguments.time_s * kNsPerSecond : kEndless_ns;
  job.time_based = arguments.events == 0;
  job.checked_blocks = arguments.validate;
  job.zero_buffers = arguments.payload == "zeros" && !arguments.validate;
  return job;
}

}  // namespace

uint64_t sysbench_region_bytes(const SysbenchArguments& arguments) {
  const SysbenchFileOptions& file = arguments.file;
  const bool whole_blocks =
      file.mode() >= SysbenchMode::kRndRd || file.direct || arguments.validate;
  return whole_blocks ? file.file_bytes() / file.block_bytes * file.block_bytes : file.file_bytes();
}

Plan make_sysbench_plan(const SysbenchArguments& arguments, const std::vector<std::string>& argv) {
  Plan plan;
  plan.title = "sysbench-" + arguments.file.test_mode;
  plan.command = "sysbench";
  plan.arguments = argv;
  plan.vms.emplace_back().jobs.push_back(job_of(arguments));
  plan.guard = {false, false, false};
  plan.clones_apart = true;
  plan.seed = static_cast<uint64_t>(arguments.rand_seed);
  if (arguments.forced_shutdown_s >= 0)
    plan.limits.drain_grace_ns = arguments.forced_shutdown_s * kNsPerSecond;
  return plan;
}

Distribution sysbench_distribution(const SysbenchArguments& arguments) {
  Distribution out;
  if (arguments.rand_type == "uniform") return out;
  out.kind = Distribution::Kind::kZonedAbsolute;
  const SysbenchFileOptions& file = arguments.file;
  const uint64_t blocks = file.file_bytes() / file.block_bytes * static_cast<uint64_t>(file.num);
  std::vector<uint64_t> edges;
  for (uint64_t i = 0; i <= kZones; ++i) edges.push_back(blocks * i / kZones);
  if (arguments.rand_type == "special") {
    const double half = std::clamp(arguments.rand_spec_pct / 200.0, 0.0, 0.5);
    const auto all = static_cast<double>(blocks);
    edges.push_back(static_cast<uint64_t>(std::floor((0.5 - half) * all)));
    edges.push_back(static_cast<uint64_t>(std::ceil((0.5 + half) * all)));
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  const auto share_below = [&](uint64_t edge) {
    return cdf(arguments, static_cast<double>(edge) / static_cast<double>(blocks));
  };
  for (size_t i = 1; i < edges.size(); ++i)
    out.zones.push_back({100 * (share_below(edges[i]) - share_below(edges[i - 1])), 0,
                         (edges[i] - edges[i - 1]) * file.block_bytes});
  return out;
}

std::string sysbench_run_header(const SysbenchArguments& arguments) {
  const SysbenchFileOptions& file = arguments.file;
  const SysbenchMode mode = file.mode();
  std::string text = fmt::format(
      "Running the test with following options:\nNumber of threads: {}\n", arguments.threads);
  if (arguments.warmup_time_s > 0)
    text += fmt::format("Warmup time: {}s\n", arguments.warmup_time_s);
  if (arguments.rate > 0) text += fmt::format("Target transaction rate: {}/sec\n", arguments.rate);
  if (arguments.report_interval_s > 0)
    text += fmt::format("Report intermediate results every {} second(s)\n",
                        arguments.report_interval_s);
  if (arguments.validate) text += "Validation checks: on.\n\n";
  text += arguments.rand_seed != 0
              ? fmt::format("Initializing random number generator from seed ({}).\n",
                            arguments.rand_seed)
              : "Initializing random number generator from current time\n";
  text += fmt::format("\n\nExtra file open flags: {}\n{} files, {} each\n{} total file size\n",
                      sysbench_flags_text(file), file.num, sysbench_size_text(file.file_bytes()),
                      sysbench_size_text(file.file_bytes() * static_cast<uint64_t>(file.num)));
  text += fmt::format("Block size {}\n", sysbench_size_text(file.block_bytes));
  if (file.merged_requests > 0)
    text += fmt::format(
        "Merging requests up to {} for sequential IO.\n",
        sysbench_size_text(file.block_bytes * static_cast<uint64_t>(file.merged_requests)));
  if (mode >= SysbenchMode::kRndRd)
    text += fmt::format(
        "Number of IO requests: {}\nRead/Write ratio for combined random IO test: {:.2f}\n",
        arguments.events, file.rw_ratio);
  if (file.fsync_all) {
    text += "Calling fsync() after each write operation.\n";
  } else {
    if (file.fsync_freq > 0)
      text += fmt::format("Periodic FSYNC enabled, calling fsync() each {} requests.\n",
                          file.fsync_freq);
    if (file.fsync_end) text += "Calling fsync() at the end of test, Enabled.\n";
  }
  constexpr std::array kIo = {"synchronous", "asynchronous", "fast mmaped"};
  constexpr std::array kModes = {"sequential write (creation)",
                                 "sequential rewrite",
                                 "sequential read",
                                 "random read",
                                 "random write",
                                 "random r/w"};
  text += fmt::format("Using {} I/O mode\n", kIo[static_cast<size_t>(file.io())]);
  if (arguments.validate) text += "Using checksums validation.\n";
  return text + fmt::format("Doing {} test\n", kModes[static_cast<size_t>(mode)]);
}

}  // namespace cephmark
