#include "result/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/time.h"
#include "base/units.h"

namespace cephmark {
namespace {

bool is_data(int op) {
  return op != op_index(Op::kFlush);
}

void set_rate(Rate& rate, int64_t window_ns) {
  if (window_ns <= 0) return;
  const double seconds = static_cast<double>(window_ns) / kNsPerSecond;
  rate.iops = static_cast<double>(rate.ios) / seconds;
  rate.bytes_per_s = static_cast<double>(rate.bytes) / seconds;
}

void add(Rate& sum, const Rate& one) {
  sum.ios += one.ios;
  sum.bytes += one.bytes;
  sum.errors += one.errors;
  sum.iops += one.iops;
  sum.bytes_per_s += one.bytes_per_s;
}

struct Span {
  int64_t start_ns = INT64_MAX, end_ns = INT64_MIN;
  bool empty() const { return end_ns <= start_ns; }
  int64_t length() const { return empty() ? 0 : end_ns - start_ns; }
};

Span measured_span(const JobResult& job) {
  Span span;
  for (const auto& phase : job.phases) {
    if (phase.kind != PhaseKind::kMeasure || phase.end_ns <= phase.start_ns) continue;
    span.start_ns = std::min(span.start_ns, phase.start_ns);
    span.end_ns = std::max(span.end_ns, phase.end_ns);
  }
  return span;
}

/// Counts of the slots [first, last) of all data and flush series of the stage.
void add_slots(StageFigures& stage, const JobResult& job, size_t first, size_t last) {
  for (int i = 0; i < kOpCount; ++i) {
    if (!job.ops[i]) continue;
    const auto& slots = job.ops[i]->series.slots();
    for (size_t k = first; k < std::min(last, slots.size()); ++k) {
      stage.ops[i].ios += slots[k].ios;
      stage.ops[i].bytes += slots[k].bytes;
      stage.ops[i].errors += slots[k].errors;
    }
  }
}

int64_t slot_width(const std::vector<const JobFigures*>& jobs) {
  int64_t width = 0;
  for (const JobFigures* job : jobs)
    for (const auto& op : job->result->ops)
      if (op && !op->series.slots().empty()) width = std::max(width, op->series.slot_ns());
  return width;
}

void set_stage_rates(StageFigures& stage, const std::vector<const JobFigures*>& jobs, Span common,
                     Span whole) {
  const int64_t width = slot_width(jobs);
  const int64_t tolerance = width > 0 ? width : Series::kDefaultSlot_ns;
  int64_t divisor_ns = 0;
  if (!common.empty() && common.start_ns - whole.start_ns <= tolerance &&
      whole.end_ns - common.end_ns <= tolerance) {
    stage.rule = StageFigures::Rule::kWhole;
    divisor_ns = whole.length();
    stage.common_start_ns = whole.start_ns;
    stage.common_end_ns = whole.end_ns;
  } else if (!common.empty() && width > 0) {
    const int64_t first = (common.start_ns + width - 1) / width, last = common.end_ns / width;
    if (last > first) {
      stage.rule = StageFigures::Rule::kCommonSlots;
      divisor_ns = (last - first) * width;
      stage.common_start_ns = first * width;
      stage.common_end_ns = last * width;
      for (const JobFigures* job : jobs) add_slots(stage, *job->result, first, last);
    }
  }
  if (stage.rule == StageFigures::Rule::kNothing) stage.rule = StageFigures::Rule::kSumOfRates;
  for (int i = 0; i < kOpCount; ++i) {
    if (stage.rule != StageFigures::Rule::kCommonSlots)
      for (const JobFigures* job : jobs) add(stage.ops[i], job->ops[i]);
    if (divisor_ns > 0) set_rate(stage.ops[i], divisor_ns);
    if (is_data(i)) add(stage.data, stage.ops[i]);
  }
}

std::vector<Fairness> fairness_of(const std::vector<const JobFigures*>& jobs) {
  std::map<std::string, std::map<int, double>> groups;
  for (const JobFigures* job : jobs) groups[job->vm_plan->group][job->vm] += job->data.iops;
  std::vector<Fairness> all;
  for (const auto& [group, vms] : groups) {
    if (vms.size() < 2) continue;
    std::vector<double> rates;
    double sum = 0, squares = 0;
    for (const auto& [vm, iops] : vms) {
      rates.push_back(iops);
      sum += iops;
      squares += iops * iops;
    }
    std::sort(rates.begin(), rates.end());
    const size_t n = rates.size();
    all.push_back({group, static_cast<int>(n), rates.front(),
                   (rates[(n - 1) / 2] + rates[n / 2]) / 2, rates.back(),
                   squares > 0 ? sum * sum / (static_cast<double>(n) * squares) : 0});
  }
  return all;
}

StageFigures figures_of_stage(int number, const std::vector<const JobFigures*>& all) {
  StageFigures stage;
  stage.stage = number;
  std::vector<const JobFigures*> jobs;
  std::map<int, bool> vms;
  Span common{INT64_MIN, INT64_MAX}, whole;
  for (const JobFigures* job : all) {
    const Span own = measured_span(*job->result);
    if (own.empty()) continue;
    jobs.push_back(job);
    vms[job->vm] = true;
    common.start_ns = std::max(common.start_ns, own.start_ns);
    common.end_ns = std::min(common.end_ns, own.end_ns);
    whole.start_ns = std::min(whole.start_ns, own.start_ns);
    whole.end_ns = std::max(whole.end_ns, own.end_ns);
  }
  if (jobs.empty()) return stage;
  stage.vms = static_cast<int>(vms.size());
  stage.first_start_ns = whole.start_ns;
  stage.last_end_ns = whole.end_ns;
  set_stage_rates(stage, jobs, common, whole);
  for (const JobFigures* job : jobs) {
    stage.requested_depth += job->requested_depth;
    stage.achieved_depth += job->achieved_depth;
    stage.whole.ios += job->data.ios;
    stage.whole.bytes += job->data.bytes;
    stage.whole.errors += job->data.errors;
    for (int i = 0; i < kOpCount; ++i) {
      if (!job->result->ops[i]) continue;
      stage.op_response[i].merge(job->result->ops[i]->response);
      stage.op_service[i].merge(job->result->ops[i]->service);
    }
  }
  for (int i = 0; i < kOpCount; ++i) {
    if (!is_data(i)) continue;
    stage.response.merge(stage.op_response[i]);
    stage.service.merge(stage.op_service[i]);
  }
  set_rate(stage.whole, whole.length());
  stage.fairness = fairness_of(jobs);
  return stage;
}

}  // namespace

JobFigures figures_of_counts(const RunResult& result, int vm, const JobResult& job, int members) {
  JobFigures f;
  f.vm = vm;
  f.job = job.job;
  f.vm_plan = &result.plan.vms.at(vm);
  f.spec = &f.vm_plan->jobs.at(job.job);
  f.result = &job;
  f.window_ns = job.measured_ns();
  f.requested_depth = uint64_t{f.spec->iodepth} * std::max(1, members);
  double in_service_ns = 0;
  for (int i = 0; i < kOpCount; ++i) {
    if (!job.ops[i]) continue;
    const OpResult& op = *job.ops[i];
    f.ops[i] = {op.ios, op.bytes, op.error_count()};
    set_rate(f.ops[i], f.window_ns);
    in_service_ns += op.service.sum_ns();
    if (is_data(i)) add(f.data, f.ops[i]);
  }
  if (f.window_ns > 0) f.achieved_depth = in_service_ns / static_cast<double>(f.window_ns);
  return f;
}

std::vector<JobFigures> job_figures_of(const RunResult& result, int vm) {
  std::vector<JobFigures> jobs;
  for (const auto& one : result.vms)
    for (const auto& job : one.jobs)
      if (vm < 0 || one.vm == vm)
        jobs.push_back(figures_of_counts(result, one.vm, job,
                                         result.plan.vms.at(one.vm).jobs.at(job.job).numjobs));
  return jobs;
}

RunFigures figures_of(const RunResult& result) {
  RunFigures all;
  all.jobs = job_figures_of(result);
  std::map<int, std::vector<const JobFigures*>> by_stage;
  int64_t measured_ns = 0;
  for (const auto& job : all.jobs) {
    by_stage[job.spec->stage].push_back(&job);
    all.data_ios += job.data.ios;
    all.flushes += job.ops[op_index(Op::kFlush)].ios;
    for (const auto& op : job.result->ops) all.late += op ? op->late : 0;
  }
  for (const auto& [number, jobs] : by_stage) {
    all.stages.push_back(figures_of_stage(number, jobs));
    measured_ns += all.stages.back().last_end_ns - all.stages.back().first_start_ns;
  }
  all.errors = result.error_count();
  all.late = std::max(all.late, result.late_arrivals);
  const double cpu_ns = static_cast<double>(result.process_cpu.user_ns) +
                        static_cast<double>(result.process_cpu.system_ns);
  const uint64_t ios = all.data_ios + all.flushes;
  if (ios > 0) all.cpu_ns_per_io = cpu_ns / static_cast<double>(ios);
  if (measured_ns == 0) measured_ns = result.measured_ns;
  if (measured_ns > 0 && result.allowed_cpus > 0)
    all.cpu_share = cpu_ns / (static_cast<double>(measured_ns) * result.allowed_cpus);
  return all;
}

uint64_t samples_beyond(const Histogram& histogram, double q) {
  const double n = static_cast<double>(histogram.count());
  const double at_or_below = std::ceil(n * q - 1e-9);
  return at_or_below >= n ? 0 : static_cast<uint64_t>(n - at_or_below);
}

bool is_synchronous(const JobSpec& job) {
  return job.ioengine == "psync" || job.ioengine == "sync" || job.ioengine == "vsync" ||
         job.ioengine == "pvsync" || job.ioengine == "pvsync2" || job.ioengine == "mmap";
}

std::string block_size_text(const JobSpec& job) {
  uint64_t low = UINT64_MAX, high = 0;
  for (int i = 0; i < kDirectionCount; ++i) {
    if (!job.has_op(static_cast<Op>(i))) continue;
    const BlockSizes& sizes = job.block_sizes[i];
    low = std::min(low, sizes.min_bytes);
    high = std::max(high, sizes.max_bytes);
    for (const auto& split : sizes.splits) {
      low = std::min(low, split.bytes);
      high = std::max(high, split.bytes);
    }
  }
  if (high == 0) return "-";
  return low == high ? format_size(low)
                     : fmt::format("{} to {}", format_size(low), format_size(high));
}

const char* phase_name(PhaseKind kind) {
  switch (kind) {
    case PhaseKind::kCreate:
      return "create";
    case PhaseKind::kPrefill:
      return "prefill";
    case PhaseKind::kOpen:
      return "open";
    case PhaseKind::kPrepare:
      return "prepare";
    case PhaseKind::kWarmup:
      return "warm-up";
    case PhaseKind::kMeasure:
      return "measure";
    case PhaseKind::kDrain:
      return "drain";
  }
  return "?";
}

}  // namespace cephmark
