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

OpResult& JobResult::op(Op kind) {
  auto& slot = ops[op_index(kind)];
  if (!slot) slot.emplace();
  return *slot;
}

const OpResult* JobResult::find(Op kind) const {
  const auto& slot = ops[op_index(kind)];
  return slot ? &*slot : nullptr;
}

int64_t JobResult::measured_ns() const {
  int64_t sum = 0;
  for (const auto& phase : phases)
    if (phase.kind == PhaseKind::kMeasure)
      sum += std::max<int64_t>(0, phase.end_ns - phase.start_ns);
  return sum;
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
