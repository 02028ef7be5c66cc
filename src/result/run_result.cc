#include "result/run_result.h"

#include <algorithm>

namespace cephmark {

uint64_t OpResult::error_count() const {
  uint64_t sum = 0;
  for (const auto& [code, count] : errors) sum += count;
  return sum;
}

void OpResult::merge(const OpResult& other) {
  ios += other.ios;
  bytes += other.bytes;
  short_ios += other.short_ios;
  late += other.late;
  for (const auto& [code, count] : other.errors) errors[code] += count;
  response.merge(other.response);
  service.merge(other.service);
  submit.merge(other.submit);
  series.merge(other.series);
}

void DepthCounters::merge(const DepthCounters& other) {
  for (size_t i = 0; i < depth.size(); ++i) {
    depth[i] += other.depth[i];
    submit[i] += other.submit[i];
    complete[i] += other.complete[i];
  }
}

void CpuUsage::merge(const CpuUsage& other) {
  user_ns += other.user_ns;
  system_ns += other.system_ns;
  context_switches += other.context_switches;
  major_faults += other.major_faults;
  minor_faults += other.minor_faults;
}

void join_phases(std::vector<PhaseSpan>& into, const std::vector<PhaseSpan>& more) {
  for (const PhaseSpan& span : more) {
    const auto same = std::find_if(into.begin(), into.end(), [&](const PhaseSpan& one) {
      return one.kind == span.kind && one.stage == span.stage;
    });
    if (same == into.end()) {
      into.push_back(span);
      continue;
    }
    same->start_ns = std::min(same->start_ns, span.start_ns);
    same->end_ns = std::max(same->end_ns, span.end_ns);
  }
}

OpResult& JobResult::op(Op kind) {
  auto& slot = ops[op_index(kind)];
  if (!slot) slot.emplace();
  return *slot;
}

const OpResult* JobResult::find(Op kind) const {
  const auto& slot = ops[op_index(kind)];
  return slot ? &*slot : nullptr;
}

bool JobResult::failed() const {
  bool bad = !failure.empty() || abandoned > 0;
  for (const auto& op : ops) bad |= op && op->error_count() > 0;
  return bad;
}

std::span<const JobResult> JobResult::each_clone() const {
  return clones.empty() ? std::span<const JobResult>(this, 1) : std::span<const JobResult>(clones);
}

int64_t JobResult::measured_ns() const {
  int64_t sum = 0;
  for (const auto& phase : phases)
    if (phase.kind == PhaseKind::kMeasure)
      sum += std::max<int64_t>(0, phase.end_ns - phase.start_ns);
  return sum;
}

void JobResult::merge(const JobResult& other) {
  for (int kind = 0; kind < kOpCount; ++kind)
    if (other.ops[kind]) op(static_cast<Op>(kind)).merge(*other.ops[kind]);
  depths.merge(other.depths);
  cpu.merge(other.cpu);
  join_phases(phases, other.phases);
  error_samples.insert(error_samples.end(), other.error_samples.begin(), other.error_samples.end());
  std::stable_sort(error_samples.begin(), error_samples.end(),
                   [](const ErrorSample& a, const ErrorSample& b) { return a.at_ns < b.at_ns; });
  if (error_samples.size() > kErrorSamples) error_samples.resize(kErrorSamples);
  abandoned += other.abandoned;
  issued += other.issued;
  end_flushes += other.end_flushes;
  end_flush_ns = std::max(end_flush_ns, other.end_flush_ns);
  finished &= other.finished;
  if (failure.empty()) failure = other.failure;
}

OpResult RunResult::total(Op kind) const {
  OpResult sum;
  for (const auto& vm : vms)
    for (const auto& job : vm.jobs)
      if (const OpResult* one = job.find(kind)) sum.merge(*one);
  return sum;
}

uint64_t RunResult::error_count() const {
  uint64_t sum = 0;
  for (const auto& vm : vms)
    for (const auto& job : vm.jobs)
      for (const auto& one : job.ops)
        if (one) sum += one->error_count();
  return sum;
}

}  // namespace cephmark
