// RunState: everything that stands while a plan runs: engines, lanes, workers, memory. Made by
// set_up(), driven by LocalRunner, taken down by tear_down(). Only the runner's thread uses it, but
// for what lanes and workers do themselves. When requests never came back, it is left standing on
// purpose (abandon()): the library still writes there.
#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "ceph/connection.h"
#include "engine/engine_table.h"
#include "job/plan.h"
#include "result/observer.h"
#include "run/lane.h"
#include "run/local_runner.h"
#include "run/worker.h"

namespace cephmark {

/// Page-aligned memory of one lane's slots.
class LaneMemory {
 public:
  /// Throws Error. 0 bytes: none.
  LaneMemory(uint64_t bytes, bool touch);
  ~LaneMemory();
  LaneMemory(const LaneMemory&) = delete;
  LaneMemory& operator=(const LaneMemory&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  uint64_t bytes_ = 0;
};

/// One target, with all jobs on it.
struct OpenTarget {
  const EngineRow* row = nullptr;
  std::shared_ptr<Engine> engine;
  std::string what;  ///< for progress and errors, before its name is known
  std::shared_ptr<TargetInfo> info = std::make_shared<TargetInfo>();
  bool will_write = false;
  std::shared_ptr<std::atomic<bool>> open = std::make_shared<std::atomic<bool>>(false);
};

struct LanePlace {
  std::unique_ptr<LaneMemory> memory;
  std::unique_ptr<Lane> lane;
  OpenTarget* target = nullptr;
  const JobSpec* job = nullptr;
};

struct RunState {
  explicit RunState(const Plan& the_plan, int64_t slot_ns) : plan(the_plan), collector(slot_ns) {}

  const Plan plan;  ///< a copy: engines may outlive the caller's
  FileGuard file_guard;
  std::function<void(const std::vector<std::string>&)> about_to_create_objects;
  std::string run_id;
  std::vector<PhaseSpan> set_up_phases;  ///< open, prepare: absolute CLOCK_MONOTONIC times
  RunControl control;
  Collector collector;
  std::shared_ptr<ConnectionPool> connections;  ///< null without Ceph jobs
  std::map<std::string, OpenTarget> targets;
  std::vector<std::vector<OpenTarget*>> job_targets;  ///< [vm][job]
  std::vector<LanePlace> lanes;
  std::vector<std::unique_ptr<Worker>> workers;
};

/// Opens, prepares, makes lanes and workers (threads started, waiting for stage 0). On Error what
/// was opened is closed. `slot_ns`: width of the series' slots. `cpus`: how many this process may
/// use.
std::unique_ptr<RunState> set_up(const Plan& plan, const LocalRunnerOptions& options,
                                 int64_t slot_ns, int cpus, Observer& observer,
                                 std::stop_token stop);

/// Before a stage that is not the first: what caches of this machine hold of the targets of its
/// jobs with invalidate=1 is dropped. Returns what went wrong; sets `stuck` as tear_down does.
std::vector<std::string> drop_caches(RunState& state, int stage, Observer& observer, bool& stuck);

/// After the last I/O: has engines write out what a cache of this machine still holds; how long
/// that took goes to the targets' facts. Returns what went wrong; sets `stuck` as tear_down does.
std::vector<std::string> settle_targets(RunState& state, Observer& observer, bool& stuck);

/// Ends the threads and closes the engines. All lanes must be done with nothing in flight. Returns
/// what went wrong on the way (for the result's taints); sets `stuck` when a close did not come
/// back.
std::vector<std::string> tear_down(std::unique_ptr<RunState> state, Observer& observer,
                                   bool& stuck);

}  // namespace cephmark
