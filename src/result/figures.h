// Figures: the numbers that people read, computed from a RunResult's counts: rates, depth,
// fairness, CPU. Pure functions; every writer and the advice use them, so that two outputs of one
// run never disagree.
//
// The rule for a fleet's rate (docs/measuring.md, "Common window"): the common window of a stage
// begins when the last VM has begun to be measured and ends when the first one ends. When all VMs
// began and ended within one slot of each other, everything that was counted is divided by the time
// from first start to last end. Otherwise only the slots that lie wholly inside the common window
// count. Without any common slot, the rates of the VMs are added up.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "result/run_result.h"

namespace cephmark {

struct Rate {
  uint64_t ios = 0, bytes = 0, errors = 0;  ///< inside the window that the rate belongs to
  double iops = 0;
  double bytes_per_s = 0;
};

/// One section of one VM over its own measured window.
struct JobFigures {
  int vm = 0, job = 0;  ///< indices into plan.vms and its jobs
  const VmPlan* vm_plan = nullptr;
  const JobSpec* spec = nullptr;
  const JobResult* result = nullptr;
  int64_t window_ns = 0;
  std::array<Rate, kOpCount> ops{};
  Rate data;                     ///< all kinds but flush
  uint64_t requested_depth = 0;  ///< iodepth x numjobs
  double achieved_depth = 0;     ///< requests in flight on average: sum of service times / window
};

/// How evenly the VMs of one group were served, in IOPS of each VM.
struct Fairness {
  std::string group;  ///< empty unless the plan has groups
  int vms = 0;
  double min_iops = 0, median_iops = 0, max_iops = 0;
  double jain = 0;  ///< (sum x)^2 / (n * sum x^2); 0: nobody did anything
};

/// All VMs together in one stage (stonewall).
struct StageFigures {
  enum class Rule : uint8_t { kWhole, kCommonSlots, kSumOfRates, kNothing };
  int stage = 0;
  int vms = 0;  ///< VMs that were measured in it
  Rule rule = Rule::kNothing;
  int64_t common_start_ns = 0,
          common_end_ns = 0;  ///< what was divided by: 0 length for kSumOfRates, kNothing
  int64_t first_start_ns = 0, last_end_ns = 0;
  std::array<Rate, kOpCount> ops{};
  Rate data;                    ///< all kinds but flush
  Rate whole;                   ///< all data ops / (last end - first start): "tail included"
  Histogram response, service;  ///< data ops of the stage
  std::array<Histogram, kOpCount> op_response, op_service;
  uint64_t requested_depth = 0;
  double achieved_depth = 0;
  std::vector<Fairness> fairness;  ///< empty for a single VM
};

struct RunFigures {
  std::vector<JobFigures> jobs;
  std::vector<StageFigures> stages;
  uint64_t data_ios = 0, flushes = 0, errors = 0, late = 0;
  double cpu_ns_per_io = 0;  ///< process CPU / I/Os (flushes too); 0: not known
  double cpu_share = 0;      ///< process CPU / (allowed CPUs x measured time), 0..1; 0: not known
};

/// The figures point into the result, which must outlive them.
RunFigures figures_of(const RunResult& result);
RunFigures figures_of(RunResult&&) = delete;
/// The figures of `counts` (a job, a clone of it, several put together) as those of the `members`
/// clones of that section.
JobFigures figures_of_counts(const RunResult& result, int vm, const JobResult& counts, int members);
/// The jobs of one VM (an index into plan.vms) without the fleet's sums; -1: of all VMs.
std::vector<JobFigures> job_figures_of(const RunResult& result, int vm = -1);

/// Samples that lie beyond the quantile; below kFewSamples a percentile is marked.
inline constexpr uint64_t kFewSamples = 100;
uint64_t samples_beyond(const Histogram& histogram, double q);

/// True for engines that keep one request in flight whatever iodepth says.
bool is_synchronous(const JobSpec& job);

/// "4 KiB", "4 KiB to 64 KiB"; of the directions that the job uses.
std::string block_size_text(const JobSpec& job);

const char* phase_name(PhaseKind kind);

}  // namespace cephmark
