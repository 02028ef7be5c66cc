// The document as a whole and one job of it; a direction's numbers are in fio_direction.cc.
#include "output/fio_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "base/time.h"
#include "base/version.h"
#include "output/fio_direction.h"
#include "output/fio_entries.h"
#include "output/fio_format.h"

namespace cephmark {
namespace {

/// The format is that of fio 3.42; what follows says who wrote it. Readers look for the prefix
/// "fio-".
constexpr const char* kFormatVersion = "fio-3.42-cephmark-";

constexpr std::array<const char*, 7> kDepthKeys = {"1", "2", "4", "8", "16", "32", ">=64"};
constexpr std::array<const char*, 7> kBatchKeys = {"0", "4", "8", "16", "32", "64", ">=64"};

/// fio's own rule: a share that is there but tiny is not shown as nothing.
double percent(uint64_t part, uint64_t whole, double least) {
  if (part == 0 || whole == 0) return 0;
  return std::max(least, 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

Json counters(const std::array<const char*, 7>& keys, const std::array<uint64_t, 7>& values,
              uint64_t whole) {
  Json json = Json::object();
  for (size_t i = 0; i < keys.size(); ++i) json[keys[i]] = percent(values[i], whole, 0.1);
  return json;
}

uint64_t sum(const std::array<uint64_t, 7>& values) {
  uint64_t all = 0;
  for (const uint64_t value : values) all += value;
  return all;
}

Json options_json(const std::vector<std::pair<std::string, std::string>>& written) {
  Json json = Json::object();
  for (const auto& [name, value] : written)
    json[name] = value;  // one that stands twice: the last, in place
  return json;
}

/// latency_ns, latency_us, latency_ms: shares of completions by latency, in fio's uneven steps.
void add_latency_shares(Json& json, const JobResult& job, uint64_t issued) {
  constexpr std::array<int, 12> kSteps = {2,   4,   10,  20,   50,   100,
                                          250, 500, 750, 1000, 2000, INT32_MAX};
  std::array<std::array<uint64_t, 12>, 3> counts{};
  for (int i = 0; i < kOpCount; ++i) {
    if (i == op_index(Op::kFlush) || !job.ops[i]) continue;
    job.ops[i]->service.for_each_bucket([&](int64_t middle, int64_t, int64_t, uint64_t count) {
      const int unit = middle < kNsPerUs ? 0 : middle < kNsPerMs ? 1 : 2;
      const int64_t value = unit == 0 ? middle : unit == 1 ? middle / kNsPerUs : middle / kNsPerMs;
      size_t step = 0;
      while (step + 1 < kSteps.size() && value >= kSteps[step]) ++step;
      counts[unit][step] += count;
    });
    counts[2][11] += job.ops[i]->service.overflow();
  }
  for (int unit = 0; unit < 3; ++unit) {
    Json shares = Json::object();
    for (int step = 0; step < (unit == 2 ? 12 : 10); ++step)
      shares[step == 11 ? ">=2000" : std::to_string(kSteps[step])] =
          percent(counts[unit][step], issued, 0.01);
    json[unit == 0 ? "latency_ns" : unit == 1 ? "latency_us" : "latency_ms"] = std::move(shares);
  }
}

/// fio's "error": errno of the first error.
int first_error(const JobResult& job) {
  if (!job.error_samples.empty()) return job.error_samples.front().error;
  for (const auto& op : job.ops)
    if (op && !op->errors.empty()) return op->errors.begin()->first;
  return job.failure.empty() ? 0 : EIO;
}

int64_t start_ms(const RunResult& result, const JobResult& job) {
  int64_t first_ns = 0;
  bool found = false;
  for (const auto& phase : job.phases)
    if (phase.kind == PhaseKind::kMeasure && (!found || phase.start_ns < first_ns)) {
      first_ns = phase.start_ns;
      found = true;
    }
  return (result.start_wall_ns + first_ns) / kNsPerMs;
}

Json job_json(const RunResult& result, const FioEntry& entry, const FioGroupRates& rates,
              const FioJsonOptions& options) {
  const JobFigures& job = entry.figures;
  const JobResult& counts = *job.result;
  const JobSpec& spec = *job.spec;
  const int64_t elapsed_ns = std::max<int64_t>(0, result.end_wall_ns - result.start_wall_ns);
  Json json;
  json["jobname"] = spec.name;
  json["groupid"] = spec.group;
  json["job_start"] = start_ms(result, counts);
  json["error"] = first_error(counts);
  json["eta"] = counts.failure.empty() ? 0 : INT32_MAX;
  json["elapsed"] = (elapsed_ns + kNsPerSecond - 1) / kNsPerSecond;
  json["job options"] = options_json(spec.written_options);
  json["read"] = fio_direction(job, Op::kRead, rates, options.bins);
  json["write"] = fio_direction(job, Op::kWrite, rates, options.bins);
  json["trim"] = fio_direction(job, Op::kTrim, rates, options.bins);
  json["sync"] = fio_sync(job, options.bins);
  const int64_t job_runtime_ns = job.window_ns * entry.members;
  json["job_runtime"] = job_runtime_ns / kNsPerMs;
  const auto cpu = [&](int64_t ns) {
    return job_runtime_ns > 0
               ? 100.0 * static_cast<double>(ns) / static_cast<double>(job_runtime_ns)
               : 0.0;
  };
  json["usr_cpu"] = cpu(counts.cpu.user_ns);
  json["sys_cpu"] = cpu(counts.cpu.system_ns);
  json["ctx"] = counts.cpu.context_switches;
  json["majf"] = counts.cpu.major_faults;
  json["minf"] = counts.cpu.minor_faults;
  const uint64_t issued = job.data.ios + job.data.errors;
  json["iodepth_level"] = counters(kDepthKeys, counts.depths.depth, issued);
  json["iodepth_submit"] = counters(kBatchKeys, counts.depths.submit, sum(counts.depths.submit));
  json["iodepth_complete"] =
      counters(kBatchKeys, counts.depths.complete, sum(counts.depths.complete));
  add_latency_shares(json, counts, issued);
  json["latency_depth"] = spec.iodepth;
  json["latency_target"] = 0;
  json["latency_target_ns"] = 0;
  json["latency_percentile"] = 100.0;
  json["latency_window"] = 0;
  json["latency_window_us"] = 0;
  if (!spec.description.empty()) json["desc"] = spec.description;
  if (options.vm < 0 && result.plan.vms.size() > 1) json["hostname"] = job.vm_plan->name;
  return json;
}

std::string ctime_text(int64_t ns) {
  const time_t seconds = ns / kNsPerSecond;
  char text[32];
  ctime_r(&seconds, text);
  std::string line = text;
  while (!line.empty() && line.back() == '\n') line.pop_back();
  return line;
}

}  // namespace

std::string fio_version_text() {
  return fmt::format("{}{}", kFormatVersion, kVersion);
}

Json fio_json_document(const RunResult& result, const FioJsonOptions& options) {
  const FioEntries entries(result, options.vm);
  const FioGroupRates rates = fio_group_rates(entries.figures());
  Json json;
  json["fio version"] = fio_version_text();
  json["timestamp"] = result.end_wall_ns / kNsPerSecond;
  json["timestamp_ms"] = result.end_wall_ns / kNsPerMs;
  json["time"] = ctime_text(result.end_wall_ns);
  Json jobs = Json::array();
  Json globals;
  for (const auto& entry : entries.all()) {
    if (globals.empty()) globals = options_json(entry.figures.spec->written_globals);
    jobs.push_back(job_json(result, entry, rates, options));
  }
  if (!globals.empty()) json["global options"] = std::move(globals);
  json["jobs"] = std::move(jobs);
  return json;
}

std::string fio_json_text(const RunResult& result, const FioJsonOptions& options) {
  return fio_format(fio_json_document(result, options));
}

std::vector<FioJobHeader> fio_job_headers(const RunResult& result, const FioJsonOptions& options) {
  const auto pid = result.environment.host.find("pid");
  std::vector<FioJobHeader> headers;
  for (const FioEntries entries(result, options.vm); const auto& entry : entries.all()) {
    FioJobHeader header;
    header.members = entry.members;
    if (pid != result.environment.host.end()) header.pid = std::atoi(pid->second.c_str());
    if (const int error = first_error(*entry.figures.result); error != 0)
      header.error_text = std::strerror(error);
    headers.push_back(std::move(header));
  }
  return headers;
}

}  // namespace cephmark
