#include "run/collect_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cephmark {
namespace {

void collect_lanes(const RunState& state, RunResult& result) {
  for (size_t vm = 0; vm < state.plan.vms.size(); ++vm) {
    VmResult& out = result.vms.emplace_back();
    out.vm = static_cast<int>(vm);
    for (size_t job = 0; job < state.plan.vms[vm].jobs.size(); ++job) {
      out.jobs.emplace_back().job = static_cast<int>(job);
      const OpenTarget* target = state.job_targets[vm][job];
      const auto known =
          std::find_if(out.targets.begin(), out.targets.end(),
                       [&](const TargetFacts& facts) { return facts.name == target->info->name; });
      if (known == out.targets.end()) {
        TargetFacts facts;
        facts.name = target->info->name;
        facts.size_bytes = target->info->size_bytes;
        facts.facts = target->info->facts;
        out.targets.push_back(std::move(facts));
      }
    }
  }
  for (const LanePlace& place : state.lanes) {
    const LaneSetup& setup = place.lane->setup();
    JobResult clone = place.lane->result();
    clone.job = setup.job;
    for (PhaseSpan& span : clone.phases) span.stage = setup.stage;
    JobResult& job = result.vms[setup.vm].jobs[setup.job];
    job.merge(clone);
    if (state.plan.clones_apart && state.plan.vms[setup.vm].jobs[setup.job].numjobs > 1)
      job.clones.push_back(std::move(clone));
  }
  if (state.connections) {
    result.connections = state.connections->size();
    const ObjecterBudget budget = state.connections->effective_budget();
    result.budget_ops = budget.ops;
    result.budget_bytes = budget.bytes;
  }
  std::set<std::string> told;  // two VMs may say the same of an image that they share
  for (const auto& [key, target] : state.targets)
    for (const std::string& warning : target.info->warnings)
      if (told.insert(warning).second) result.taints.push_back({"target", warning});
}

// Fleet-wide spans, and the common window: where the measured windows of all VMs with jobs in a
// stage overlap.
void collect_windows(RunResult& result, int stages) {
  for (int stage = 0; stage < stages; ++stage) {
    int64_t from_ns = 0, to_ns = INT64_MAX;
    bool any = false;
    for (const VmResult& vm : result.vms) {
      int64_t vm_from_ns = INT64_MAX, vm_to_ns = INT64_MIN;
      for (const JobResult& job : vm.jobs) {
        std::vector<PhaseSpan> mine;
        for (const PhaseSpan& span : job.phases)
          if (span.stage == stage) mine.push_back(span);
        join_phases(result.phases, mine);
        for (const PhaseSpan& span : job.phases) {
          if (span.stage != stage || span.kind != PhaseKind::kMeasure) continue;
          vm_from_ns = std::min(vm_from_ns, span.start_ns);
          vm_to_ns = std::max(vm_to_ns, span.end_ns);
        }
      }
      if (vm_to_ns < vm_from_ns) continue;
      any = true;
      from_ns = std::max(from_ns, vm_from_ns);
      to_ns = std::min(to_ns, vm_to_ns);
    }
    if (any) result.measured_ns += std::max<int64_t>(0, to_ns - from_ns);
  }
}

void collect_totals(RunResult& result) {
  for (const VmResult& vm : result.vms)
    for (const JobResult& job : vm.jobs)
      for (const auto& op : job.ops) {
        if (!op) continue;
        result.fleet_response.merge(op->response);
        result.fleet_service.merge(op->service);
        result.late_arrivals += op->late;
      }
}

void mark_abandoned(RunResult& result) {
  int64_t abandoned = 0;
  for (const VmResult& vm : result.vms)
    for (const JobResult& job : vm.jobs) abandoned += job.abandoned;
  if (abandoned == 0 && !result.must_exit_hard) return;
  result.must_exit_hard = true;
  result.taints.push_back(
      {"abandoned",
       fmt::format(
           "{} requests had not come back when the drain grace was over; their targets were not "
           "closed",
           abandoned)});
}

}  // namespace

void collect_results(RunState& state, RunResult& result) {
  collect_lanes(state, result);
  for (PhaseSpan phase : state.set_up_phases) {
    phase.start_ns -= state.control.epoch_ns();
    phase.end_ns -= state.control.epoch_ns();
    result.phases.push_back(phase);
  }
  collect_windows(result, state.plan.stage_count());
  collect_totals(result);
  mark_abandoned(result);
  state.collector.finish(result);
}

}  // namespace cephmark
