#include "run/local_runner.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "base/cpu_affinity.h"
#include "base/error.h"
#include "base/time.h"
#include "run/collect_results.h"
#include "run/run_state.h"

namespace cephmark {
namespace {

/// A lane that is not done this long after it should have given up is stuck inside a library call.
constexpr int64_t kStuckAfter_ns = 3 * kNsPerSecond;
/// Series slots of a whole run that are kept in memory, over all lanes and op kinds (40 bytes
/// each).
constexpr int64_t kMaxSeriesSlots = 4'000'000;
constexpr int64_t kAssumedRun_ns = 3600 * kNsPerSecond;
/// Lanes hand a slot over with their first completion behind its end: ticks come that much later.
constexpr int64_t kHandedOver_ns = 25 * kNsPerMs;

// Bounded memory: the slots get wider when the plan would need too many.
int64_t series_slot_ns(const Plan& plan) {
  int64_t lanes = 0, total_ns = 0;
  for (int stage = 0; stage < plan.stage_count(); ++stage) {
    int64_t stage_ns = 0;
    for (const VmPlan& vm : plan.vms)
      for (const JobSpec& job : vm.jobs) {
        if (job.stage != stage) continue;
        lanes += int64_t{job.numjobs} * (job.rw.reads + job.rw.writes + job.rw.trims);
        stage_ns = std::max(stage_ns, std::max(job.startdelay_ns, job.startdelay_max_ns) +
                                          job.ramp_time_ns +
                                          (job.runtime_ns > 0 ? job.runtime_ns : kAssumedRun_ns));
      }
    total_ns += stage_ns;
  }
  int64_t slot_ns = plan.limits.slot_ns > 0 ? plan.limits.slot_ns : Series::kDefaultSlot_ns;
  while (total_ns / slot_ns * lanes > kMaxSeriesSlots) slot_ns *= 2;
  return slot_ns;
}

CpuUsage difference(const CpuUsage& after, const CpuUsage& before) {
  return {after.user_ns - before.user_ns, after.system_ns - before.system_ns,
          after.context_switches - before.context_switches,
          after.major_faults - before.major_faults, after.minor_faults - before.minor_faults};
}

// One stage's times, from its jobs.
struct StageTimes {
  int lanes = 0;
  int64_t measure_start_ns = INT64_MAX;  ///< earliest
  int64_t measure_end_ns = 0;            ///< latest; INT64_MAX: open
};

StageTimes stage_times(const RunState& state, int stage, int64_t start_ns) {
  StageTimes times;
  for (const LanePlace& place : state.lanes) {
    const LaneSetup& setup = place.lane->setup();
    if (setup.stage != stage) continue;
    ++times.lanes;
    const int64_t from_ns = start_ns + setup.startdelay_ns + setup.ramp_ns;
    times.measure_start_ns = std::min(times.measure_start_ns, from_ns);
    times.measure_end_ns = std::max(times.measure_end_ns,
                                    setup.runtime_ns > 0 ? from_ns + setup.runtime_ns : INT64_MAX);
  }
  return times;
}

// Runs the stages of a plan that is set up.
class StageLoop {
 public:
  StageLoop(RunState& state, const LocalRunnerOptions& options, int64_t slot_ns, Observer& observer,
            RunResult& result)
      : state_(state), options_(options), slot_ns_(slot_ns), observer_(observer), result_(result) {}

  /// False: lanes are stuck, nothing may be taken down.
  bool run(int stages) {
    const int64_t epoch_ns = monotonic_ns();
    state_.control.set_epoch(epoch_ns);
    result_.start_wall_ns = wall_ns();
    last_tick_ns_ = last_covered_ns_ = epoch_ns;
    bool all_done = true;
    for (int stage = 0; stage < stages && all_done; ++stage) {
      if (stage > 0) all_done = make_ready(stage);
      const int64_t start_ns = stage == 0 ? epoch_ns : monotonic_ns();
      if (all_done) all_done = run_stage(stage, start_ns);
    }
    result_.end_wall_ns = wall_ns();
    return all_done;
  }

 private:
  // What the stages before left in caches is not to be measured. (Opening has seen to the first.)
  bool make_ready(int stage) {
    if (state_.control.stop_ns() != RunControl::kNever_ns) return true;
    bool stuck = false;
    for (const std::string& trouble : drop_caches(state_, stage, observer_, stuck))
      result_.taints.push_back({"target", trouble});
    return !stuck;
  }

  bool run_stage(int stage, int64_t start_ns) {
    times_ = stage_times(state_, stage, start_ns);
    if (times_.lanes == 0 || state_.control.stop_ns() != RunControl::kNever_ns) return true;
    state_.control.release_stage(stage, start_ns, times_.lanes);
    for (auto& worker : state_.workers) worker->wake();
    cpu_begun_ = cpu_ended_ = false;
    bool stop_known = false;
    int64_t next_tick_ns = last_tick_ns_ + options_.tick_ns + kHandedOver_ns;
    while (state_.control.active() > 0) {
      const int64_t now_ns = monotonic_ns();
      sample_cpu(now_ns, false);
      if (now_ns >= next_tick_ns) {
        tick(stage, now_ns, covered_ns(now_ns));
        next_tick_ns = std::max(next_tick_ns + options_.tick_ns, now_ns);
      }
      if (!stop_known && state_.control.stop_ns() != RunControl::kNever_ns) {
        stop_known = true;
        for (auto& worker : state_.workers) worker->wake();
      }
      if (now_ns > give_up_ns()) return false;
      int64_t until_ns = std::min(next_tick_ns, give_up_ns());
      if (!cpu_begun_)
        until_ns = std::min(until_ns, times_.measure_start_ns);
      else if (!cpu_ended_)
        until_ns = std::min(until_ns, times_.measure_end_ns);
      state_.control.wait_for_news(std::max<int64_t>(0, until_ns - monotonic_ns()), stop_known);
    }
    const int64_t now_ns = monotonic_ns();
    sample_cpu(now_ns, true);
    tick(stage, now_ns, now_ns);
    return true;
  }

  /// Up to where the lanes have told what they did; now, where slots are longer than ticks.
  int64_t covered_ns(int64_t now_ns) const {
    const int64_t epoch_ns = state_.control.epoch_ns();
    const int64_t slots = std::max<int64_t>(0, now_ns - kHandedOver_ns - epoch_ns) / slot_ns_;
    const int64_t told_ns = epoch_ns + slots * slot_ns_;
    return told_ns > last_covered_ns_ ? told_ns : now_ns;
  }

  int64_t give_up_ns() const {
    const int64_t end_ns = std::min(times_.measure_end_ns, state_.control.stop_ns());
    if (end_ns == INT64_MAX) return INT64_MAX;
    // end_fsync has a longer grace of its own, which only its lanes use.
    int64_t grace_ns = state_.plan.limits.drain_grace_ns;
    for (const LanePlace& place : state_.lanes)
      if (place.job->end_fsync) grace_ns = std::max(grace_ns, int64_t{120} * kNsPerSecond);
    return end_ns + grace_ns + kStuckAfter_ns;
  }

  void sample_cpu(int64_t now_ns, bool stage_ended) {
    if (!cpu_begun_ && now_ns >= times_.measure_start_ns) {
      cpu_begun_ = true;
      cpu_at_start_ = cpu_used(RUSAGE_SELF);
    }
    if (!cpu_begun_ || cpu_ended_) return;
    if (!stage_ended && now_ns < std::min(times_.measure_end_ns, state_.control.stop_ns())) return;
    cpu_ended_ = true;
    result_.process_cpu.merge(difference(cpu_used(RUSAGE_SELF), cpu_at_start_));
  }

  void tick(int stage, int64_t now_ns, int64_t covered_ns) {
    TickSample sample;
    state_.collector.take_fresh(sample);
    sample.at_ns = now_ns - state_.control.epoch_ns();
    sample.interval_ns = std::max<int64_t>(0, covered_ns - last_covered_ns_);
    last_covered_ns_ = covered_ns;
    last_tick_ns_ = now_ns;
    sample.stage = stage;
    const int64_t end_ns = std::min(times_.measure_end_ns, state_.control.stop_ns());
    sample.phase = now_ns < times_.measure_start_ns ? PhaseKind::kWarmup
                   : now_ns < end_ns                ? PhaseKind::kMeasure
                                                    : PhaseKind::kDrain;
    const int64_t phase_end_ns =
        sample.phase == PhaseKind::kWarmup ? times_.measure_start_ns : end_ns;
    if (phase_end_ns != INT64_MAX)
      sample.phase_left_ns = std::max<int64_t>(0, phase_end_ns - now_ns);
    if (end_ns != INT64_MAX)
      sample.fraction_done =
          std::clamp(static_cast<double>(now_ns - state_.control.stage_start_ns()) /
                         (end_ns - state_.control.stage_start_ns()),
                     0.0, 1.0);
    int last_vm = -1;
    for (const LanePlace& place : state_.lanes) {
      const Lane& lane = *place.lane;
      if (lane.setup().stage != stage || lane.done()) continue;
      sample.in_flight += lane.in_flight();
      if (lane.setup().vm != last_vm) ++sample.vms_active;
      last_vm = lane.setup().vm;
    }
    observer_.tick(sample);
  }

  RunState& state_;
  const LocalRunnerOptions& options_;
  const int64_t slot_ns_;
  Observer& observer_;
  RunResult& result_;
  StageTimes times_;
  int64_t last_tick_ns_ = 0, last_covered_ns_ = 0;
  CpuUsage cpu_at_start_;
  bool cpu_begun_ = false, cpu_ended_ = false;
};

// HNG-03: such a job does one I/O or none.
void warn_of_slow_rates(const Plan& plan, RunResult& result) {
  for (const VmPlan& vm : plan.vms)
    for (const JobSpec& job : vm.jobs)
      for (Op op : {Op::kRead, Op::kWrite, Op::kTrim}) {
        const uint64_t rate = job.rate_bytes_per_s[op_index(op)];
        if (!job.has_op(op) || rate == 0 || job.runtime_ns == 0) continue;
        const uint64_t block = job.block_sizes[op_index(op)].min_bytes;
        if (static_cast<double>(rate) * job.runtime_ns / kNsPerSecond >= static_cast<double>(block))
          continue;
        result.taints.push_back(
            {"rate-below-one-block",
             fmt::format("job {}: a rate of {} bytes/s gives less than one {} of {} bytes in its "
                         "runtime",
                         job.name, rate, op_name(op), block)});
      }
}

}  // namespace

RunResult LocalRunner::run(const Plan& plan, std::stop_token stop, Observer& observer) {
  const CpuAffinity affinity(plan.limits.max_cpus);
  RunResult result;
  result.plan = plan;
  result.runner = "native";
  result.allowed_cpus = affinity.count();
  warn_of_slow_rates(plan, result);

  const int64_t slot_ns = series_slot_ns(plan);
  auto state = set_up(plan, options_, slot_ns, affinity.count(), observer, stop);
  const int stages = plan.stage_count();
  bool all_done = false;
  {
    const std::stop_callback on_stop(
        stop, [&control = state->control] { control.stop_at(monotonic_ns()); });
    observer.io_begins();
    all_done = StageLoop(*state, options_, slot_ns, observer, result).run(stages);
    observer.io_ended();
  }
  if (stop.stop_requested()) {
    result.stop_reason = "interrupted";
    result.taints.push_back(
        {"interrupted", "the run was stopped before its end: what was measured until then stands"});
  }
  result.must_exit_hard = !all_done;
  if (all_done)
    for (const std::string& trouble : settle_targets(*state, observer, result.must_exit_hard))
      result.taints.push_back({"close-failed", trouble});
  collect_results(*state, result);
  if (result.must_exit_hard) {
    if (state->connections) state->connections->abandon();
    static_cast<void>(
        state.release());  // requests are still out: the library may write there at any time
    return result;
  }
  bool stuck = false;
  for (const std::string& trouble : tear_down(std::move(state), observer, stuck))
    result.taints.push_back({"close-failed", trouble});
  result.must_exit_hard |= stuck;
  return result;
}

}  // namespace cephmark
