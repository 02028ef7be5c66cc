// RunResult: everything that was measured, narrowed to one type. Plain data; versioned JSON
// (codec.h, schema in docs/result-schema). Counts and histograms, never averages: what people read
// is computed by writers. Times inside are nanoseconds relative to `epoch` (one CLOCK_MONOTONIC
// instant, the barrier of stage 0) unless they say wall.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "job/op.h"
#include "job/plan.h"
#include "stats/histogram.h"
#include "stats/series.h"

namespace cephmark {

/// One op kind of one VM x job, measured window only.
struct OpResult {
  uint64_t ios = 0;  ///< completed without error inside the window
  uint64_t bytes = 0;
  uint64_t short_ios = 0;
  uint64_t late = 0;               ///< open loop: issued later than due by more than 1 ms
  std::map<int, uint64_t> errors;  ///< errno (positive) -> count
  Histogram response;              ///< completed - due: what a user waits
  Histogram service;               ///< completed - submitted
  Histogram submit;  ///< submit call itself (fio's slat); empty where it has no meaning
  Series series;     ///< slot 0 starts at epoch

  uint64_t error_count() const;
  void merge(const OpResult& other);
};

struct ErrorSample {
  int64_t at_ns = 0;  ///< relative to epoch
  Op op = Op::kRead;
  uint64_t offset = 0, length = 0;
  int error = 0;      ///< errno, positive
  uint32_t file = 0;  ///< which of the clone's files
};

/// fio's "IO depths" / submit / complete counters: bucket i counts depth (1,2,4,8,16,32,>=64),
/// batch sizes (0,4,8,16,32,64,>=64).
struct DepthCounters {
  std::array<uint64_t, 7> depth{}, submit{}, complete{};
  void merge(const DepthCounters& other);
};

struct CpuUsage {
  int64_t user_ns = 0, system_ns = 0;
  uint64_t context_switches = 0, major_faults = 0, minor_faults = 0;
  void merge(const CpuUsage& other);
};

/// In the order of a run. The first four stand in RunResult::phases only, once each.
enum class PhaseKind : uint8_t { kCreate, kPrefill, kOpen, kPrepare, kWarmup, kMeasure, kDrain };
inline constexpr int kPhaseKindCount = 7;
struct PhaseSpan {
  PhaseKind kind = PhaseKind::kMeasure;
  int stage = 0;
  int64_t start_ns = 0, end_ns = 0;
};

/// Spans of the same kind and stage become one, from the first start to the last end.
void join_phases(std::vector<PhaseSpan>& into, const std::vector<PhaseSpan>& more);

/// One section of one VM (all its numjobs clones merged).
struct JobResult {
  static constexpr size_t kErrorSamples = 10;

  int job = 0;                                        ///< index into plan.vms[vm].jobs
  std::array<std::optional<OpResult>, kOpCount> ops;  ///< by Op; absent: no such I/O was issued
  DepthCounters depths;
  CpuUsage cpu;  ///< of the threads that drove it, where that can be told apart; else zeros
  std::vector<PhaseSpan> phases;  ///< its own: start of issue to end of measured window, drain
  std::vector<ErrorSample> error_samples;  ///< the first few, at most kErrorSamples
  int64_t abandoned = 0;                   ///< requests that never came back
  uint64_t issued = 0;                     ///< all phases
  /// end_fsync: flushes behind the measured window, of all clones, and how long the slowest took
  /// over its own. They are in no op's counts.
  uint64_t end_flushes = 0;
  int64_t end_flush_ns = 0;
  bool finished = true;           ///< false: stopped before its own end (interrupt, guard, error)
  std::string failure;            ///< why the job could not run at all; empty: it ran
  std::vector<JobResult> clones;  ///< each by itself, where Plan::clones_apart asks for it

  OpResult& op(Op kind);  ///< made at first use
  const OpResult* find(Op kind) const;
  /// It could not run, some of its I/O failed, or some never came back.
  bool failed() const;
  /// Each clone by itself where they were kept apart, else the job as a whole.
  std::span<const JobResult> each_clone() const;
  int64_t measured_ns() const;  ///< total length of its kMeasure spans
  /// Adds what ran beside it: counts and histograms; spans are joined by kind and stage. Not the
  /// clones.
  void merge(const JobResult& other);
};

struct TargetFacts {
  std::string name;
  uint64_t size_bytes = 0;
  std::optional<uint64_t>
      allocated_bytes;  ///< written before the measured window; absent: not known
  std::map<std::string, std::string>
      facts;                  ///< "cache": "off (set by cephmark)", as TargetInfo::facts
  uint64_t region_bytes = 0;  ///< what allocated_bytes is out of: the part that is read; 0: all
};

struct VmResult {
  int vm = 0;  ///< index into plan.vms
  std::vector<JobResult> jobs;
  std::vector<TargetFacts> targets;
};

/// Something that makes the result doubtful, or that its reader must know. `code` is a heading in
/// docs/measuring.
struct Taint {
  std::string code;  ///< "interrupted", "unwritten-image", ...
  std::string text;
};

struct Environment {
  std::map<std::string, std::string> host;  ///< kernel, cpus, memory, program version...
  std::map<std::string, std::string>
      cluster;                    ///< fsid, health, versions, pool facts; empty without a cluster
  uint64_t osd_memory_bytes = 0;  ///< sum of osd_memory_target over the OSDs; 0: not known
};

/// Counter deltas of the cluster from before the first I/O to after the last one, warm-up and drain
/// included, and what this program did in that time. Absent where the key may not ask.
struct ClusterWitness {
  bool available = false;
  std::string unavailable_reason;  ///< "missing cap: osd 'allow *' for perf dump"
  uint64_t read_ops = 0, write_ops = 0, read_bytes = 0, write_bytes = 0;
  uint64_t extra_ops = 0;  ///< besides these: locks, watches, headers, object maps (op_rw)
  /// Completed I/Os (trims and write-zeroes count as writes, without bytes) in all phases. All 0:
  /// not counted, the measured window stands for them.
  uint64_t client_reads = 0, client_writes = 0, client_read_bytes = 0, client_write_bytes = 0;
  int64_t window_ns = 0;
  std::vector<std::string> health_changes;
  std::vector<std::string>
      background_work;  ///< recovery, backfill, scrub seen inside the window, as people read it
};

struct RunResult {
  static constexpr int kSchemaVersion = 1;

  std::string id;  ///< "20261130-141502-write-4k-3f9a"
  Plan plan;
  std::string runner;  ///< "native", "fio 3.33"
  bool exact_percentiles = true;
  int64_t start_wall_ns = 0,
          end_wall_ns = 0;        ///< wall time of epoch, and when the last drain ended
  std::vector<PhaseSpan> phases;  ///< fleet-wide
  std::vector<VmResult> vms;
  Histogram fleet_response, fleet_service;  ///< all op kinds, measured windows
  std::array<std::vector<Histogram>, kOpCount>
      interval_response;  ///< [op][interval] over the fleet
  int64_t interval_slot_ns =
      0;                    ///< width of those intervals: limits.slot_ns, doubled in very long runs
  CpuUsage process_cpu;     ///< whole process over the measured window
  int64_t measured_ns = 0;  ///< common window: all VMs active
  int allowed_cpus = 0;
  int connections = 0;  ///< librados contexts; 0: no Ceph engine
  uint64_t budget_ops = 0,
           budget_bytes = 0;  ///< one context's objecter_inflight_ops, _op_bytes; 0: not known
  uint64_t late_arrivals = 0;
  Environment environment;
  ClusterWitness witness;
  std::vector<Taint> taints;
  std::string stop_reason;  ///< "", "interrupted (SIGINT)", "guard: pool nearfull"
  std::string error;        ///< a failure that ended the run; empty: none
  bool must_exit_hard =
      false;  ///< threads or requests never came back: save, then leave with _exit (not serialised)

  /// All jobs of all VMs merged, per op kind.
  OpResult total(Op kind) const;
  uint64_t error_count() const;
};

}  // namespace cephmark
