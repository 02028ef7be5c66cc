#include "run/fio_collect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "base/time.h"
#include "base/units.h"
#include "job/ceph_engines.h"
#include "run/fio_json.h"

namespace cephmark {
namespace {

constexpr size_t kToldLines = 5;
constexpr size_t kMostMessages = 20;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (!line.empty() && std::find(lines.begin(), lines.end(), line) == lines.end())
      lines.push_back(line);
  }
  return lines;
}

std::string last_lines(const std::vector<std::string>& lines) {
  if (lines.empty()) return "it said nothing";
  const size_t from = lines.size() > kToldLines ? lines.size() - kToldLines : 0;
  return fmt::format(
      "{}", fmt::join(lines.begin() + static_cast<std::ptrdiff_t>(from), lines.end(), "; "));
}

std::string how_it_ended(const FioEnd& end) {
  if (end.signal_number != 0)
    return fmt::format("fio was ended by signal {} ({})", end.signal_number,
                       strsignal(end.signal_number));
  return fmt::format("fio ended with exit code {}", end.exit_code);
}

int64_t cpu_ns(const timeval& time) {
  return time.tv_sec * kNsPerSecond + time.tv_usec * kNsPerUs;
}

CpuUsage cpu_of(const rusage& usage) {
  CpuUsage cpu;
  cpu.user_ns = cpu_ns(usage.ru_utime);
  cpu.system_ns = cpu_ns(usage.ru_stime);
  cpu.context_switches = static_cast<uint64_t>(usage.ru_nvcsw + usage.ru_nivcsw);
  cpu.major_faults = static_cast<uint64_t>(usage.ru_majflt);
  cpu.minor_faults = static_cast<uint64_t>(usage.ru_minflt);
  return cpu;
}

bool did_anything(const JobResult& job) {
  return std::any_of(job.ops.begin(), job.ops.end(), [](const auto& op) { return op.has_value(); });
}

// Wall-clock spans of one VM's jobs. fio 3.33 tells only when it printed and how long each job was
// measured, so the stages are laid end to end backwards from there; newer ones tell each job's
// start.
void place_phases(const VmPlan& vm, FioReading& reading, int64_t ended_wall_ns) {
  int stages = 0;
  for (const auto& spec : vm.jobs) stages = std::max(stages, spec.stage + 1);
  int64_t stage_end_ns = reading.printed_wall_ns > 0 ? reading.printed_wall_ns : ended_wall_ns;
  for (int stage = stages - 1; stage >= 0; --stage) {
    int64_t length_ns = 0;
    for (size_t i = 0; i < vm.jobs.size(); ++i) {
      const FioJob& job = reading.jobs[i];
      if (vm.jobs[i].stage == stage && job.runtime_ns > 0)
        length_ns = std::max(length_ns,
                             vm.jobs[i].startdelay_ns + vm.jobs[i].ramp_time_ns + job.runtime_ns);
    }
    const int64_t stage_start_ns = stage_end_ns - length_ns;
    for (size_t i = 0; i < vm.jobs.size(); ++i) {
      FioJob& job = reading.jobs[i];
      const JobSpec& spec = vm.jobs[i];
      if (spec.stage != stage || job.runtime_ns == 0) continue;
      const int64_t issue_ns =
          job.start_wall_ns > 0 ? job.start_wall_ns : stage_start_ns + spec.startdelay_ns;
      const int64_t measure_ns = issue_ns + spec.ramp_time_ns;
      if (spec.ramp_time_ns > 0)
        job.result.phases.push_back({PhaseKind::kWarmup, stage, issue_ns, measure_ns});
      job.result.phases.push_back(
          {PhaseKind::kMeasure, stage, measure_ns, measure_ns + job.runtime_ns});
    }
    stage_end_ns = stage_start_ns;
  }
}

class FioCollector {
 public:
  FioCollector(const Plan& plan, const std::string& version) : plan_(plan), version_(version) {
    result().plan = plan;
    result().runner = version;
  }

  void add(size_t vm, const FioEnd& end);
  FioCollection finish();

 private:
  RunResult& result() { return collection_.result; }
  void taint(const std::string& code, const std::string& text);
  void add_reading(size_t vm, const FioEnd& end, FioReading reading,
                   const std::vector<std::string>& lines);
  void add_failure(size_t vm, const std::string& text);
  void make_relative();
  void sum_up();
  void add_fleet_phases();

  const Plan& plan_;
  std::string version_;
  FioCollection collection_;
  size_t failed_ = 0;
  int64_t start_spread_ns_ = 0;  ///< of the VMs, in the first stage
  std::string first_failure_;
};

void FioCollector::taint(const std::string& code, const std::string& text) {
  size_t same_code = 0;
  for (const auto& old : result().taints) {
    if (old.code != code) continue;
    ++same_code;
    if (old.text == text) return;
  }
  if (same_code < kMostMessages) result().taints.push_back({code, text});
}

void FioCollector::add(size_t vm, const FioEnd& end) {
  result().process_cpu.merge(cpu_of(end.usage));
  const std::string what = plan_.vms[vm].name;
  std::vector<std::string> lines = lines_of(end.errors);
  if (!end.started) {
    add_failure(vm, "stopped before its turn to start came");
    return;
  }
  const char* early = end.stopped ? "stopped before it reported anything: " : "";
  try {
    FioOutput output = split_fio_output(end.output, what);
    if (lines.empty()) lines = output.notes;
    if (output.document.is_null()) {
      add_failure(vm, fmt::format("{}{} and left no report: {}", early, how_it_ended(end),
                                  last_lines(lines)));
      return;
    }
    // fio prints an error once to its error stream and once into its report; each is told once.
    FioReading reading = read_fio_result(output, plan_.vms[vm], what);
    place_phases(plan_.vms[vm], reading, end.ended_wall_ns);
    for (const auto& line : output.notes)
      if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
    add_reading(vm, end, std::move(reading), lines);
    collection_.documents.push_back(std::move(output.document));
  } catch (const Error& error) {
    add_failure(
        vm, fmt::format("{}{}; {}: {}", early, how_it_ended(end), error.what(), last_lines(lines)));
  }
}

void FioCollector::add_reading(size_t vm, const FioEnd& end, FioReading reading,
                               const std::vector<std::string>& lines) {
  VmResult out;
  out.vm = static_cast<int>(vm);
  bool failed = false;
  for (auto& job : reading.jobs) {
    JobResult& one = job.result;
    // A job that could not be set up (an image that is not there) has error 0 and zeros in fio's
    // report.
    const bool merged_away = !did_anything(one) && one.failure.empty() &&
                             plan_.vms[vm].jobs[one.job].group_reporting && one.job > 0;
    if (!did_anything(one) && one.failure.empty() && end.exit_code != 0 && !end.stopped &&
        !merged_away)
      one.failure = fmt::format("{}: {}", how_it_ended(end), last_lines(lines));
    if (!did_anything(one) && one.failure.empty() && end.stopped && !merged_away)
      one.failure = "stopped before its first I/O";
    if (!one.failure.empty() || end.stopped) one.finished = false;
    if (!one.failure.empty() && first_failure_.empty()) first_failure_ = one.failure;
    failed = failed || !one.failure.empty();
    out.jobs.push_back(std::move(one));
  }
  const bool ran = std::any_of(out.jobs.begin(), out.jobs.end(), did_anything);
  if (failed && !ran) ++failed_;
  result().exact_percentiles = result().exact_percentiles && reading.exact;
  for (const auto& one : reading.taints) taint(one.code, one.text);
  if (!failed)
    for (const auto& line : lines)
      if (line.find("terminating on signal") == std::string::npos)
        taint("fio-messages", fmt::format("{}: {}", plan_.vms[vm].name, line));
  result().vms.push_back(std::move(out));
}

void FioCollector::add_failure(size_t vm, const std::string& text) {
  VmResult out;
  out.vm = static_cast<int>(vm);
  for (size_t i = 0; i < plan_.vms[vm].jobs.size(); ++i) {
    JobResult job;
    job.job = static_cast<int>(i);
    job.finished = false;
    job.failure = text;
    out.jobs.push_back(std::move(job));
  }
  ++failed_;
  if (first_failure_.empty()) first_failure_ = text;
  Json document;
  std::string name = version_;
  std::replace(name.begin(), name.end(), ' ', '-');
  document["fio version"] = name;
  document["jobs"] = Json::array();
  document["error"] = text;
  collection_.documents.push_back(std::move(document));
  result().vms.push_back(std::move(out));
}

void FioCollector::make_relative() {
  int64_t epoch_ns = INT64_MAX, end_ns = 0;
  for (const auto& vm : result().vms)
    for (const auto& job : vm.jobs)
      for (const auto& phase : job.phases) {
        epoch_ns = std::min(epoch_ns, phase.start_ns);
        end_ns = std::max(end_ns, phase.end_ns);
      }
  if (epoch_ns == INT64_MAX) return;
  result().start_wall_ns = epoch_ns;
  result().end_wall_ns = end_ns;
  for (auto& vm : result().vms)
    for (auto& job : vm.jobs) {
      for (auto& phase : job.phases) phase.start_ns -= epoch_ns, phase.end_ns -= epoch_ns;
      // fio does not say when an error was; it ended its job, so the end of the job is when.
      for (auto& sample : job.error_samples)
        if (!job.phases.empty()) sample.at_ns = job.phases.back().end_ns;
    }
}

void FioCollector::add_fleet_phases() {
  for (int stage = 0; stage < plan_.stage_count(); ++stage) {
    for (PhaseKind kind : {PhaseKind::kWarmup, PhaseKind::kMeasure}) {
      PhaseSpan all{kind, stage, INT64_MAX, 0};
      int64_t last_start_ns = 0, first_end_ns = INT64_MAX;
      for (const auto& vm : result().vms) {
        int64_t start_ns = INT64_MAX, end_ns = 0;
        for (const auto& job : vm.jobs)
          for (const auto& phase : job.phases)
            if (phase.kind == kind && phase.stage == stage) {
              start_ns = std::min(start_ns, phase.start_ns);
              end_ns = std::max(end_ns, phase.end_ns);
            }
        if (end_ns == 0) continue;
        all.start_ns = std::min(all.start_ns, start_ns);
        all.end_ns = std::max(all.end_ns, end_ns);
        last_start_ns = std::max(last_start_ns, start_ns);
        first_end_ns = std::min(first_end_ns, end_ns);
      }
      if (all.end_ns == 0) continue;
      result().phases.push_back(all);
      if (stage == 0) start_spread_ns_ = std::max(start_spread_ns_, last_start_ns - all.start_ns);
      if (kind == PhaseKind::kMeasure)
        result().measured_ns += std::max<int64_t>(0, first_end_ns - last_start_ns);
    }
  }
}

void FioCollector::sum_up() {
  for (const auto& vm : result().vms)
    for (const auto& job : vm.jobs)
      for (const auto& op : job.ops)
        if (op)
          result().fleet_response.merge(op->response), result().fleet_service.merge(op->service);
  for (const auto& vm : plan_.vms)
    for (const auto& job : vm.jobs)
      if (needs_ceph(job.ioengine)) result().connections += std::max(1, job.numjobs);
}

FioCollection FioCollector::finish() {
  make_relative();
  add_fleet_phases();
  sum_up();
  if (plan_.stage_count() > 1 && plan_.vms.size() > 1)
    taint(
        "fio-stages",
        "stonewall: each fio goes on to its next phase by itself; phases of different VMs overlap");
  if (plan_.vms.size() > 1 && start_spread_ns_ > 0)
    taint("fio-start-spread",
          fmt::format("real fio processes wait for no common start: the last VM began {} behind "
                      "the first",
                      format_duration(start_spread_ns_)));
  if (!result().exact_percentiles)
    taint("approximate-percentiles",
          "fio's report has no histogram for some latencies; their percentiles are "
          "rebuilt from its percentile list");
  if (failed_ > 0 && failed_ == plan_.vms.size())
    result().error =
        plan_.vms.size() == 1
            ? first_failure_
            : fmt::format("none of the {} fio processes could run: {}", failed_, first_failure_);
  return std::move(collection_);
}

}  // namespace

FioCollection collect_fio(const Plan& plan, const std::string& version,
                          const std::vector<FioEnd>& ends) {
  FioCollector collector(plan, version);
  for (size_t vm = 0; vm < ends.size(); ++vm) collector.add(vm, ends[vm]);
  return collector.finish();
}

int64_t fio_stage_length_ns(const VmPlan& vm, int stage) {
  int64_t length_ns = 0;
  for (const auto& job : vm.jobs) {
    if (job.stage != stage) continue;
    if (job.runtime_ns == 0) return 0;
    length_ns = std::max(length_ns, std::max(job.startdelay_ns, job.startdelay_max_ns) +
                                        job.ramp_time_ns + job.runtime_ns);
  }
  return length_ns;
}

}  // namespace cephmark
