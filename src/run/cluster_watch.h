// ClusterWatch: looks at the cluster while a run goes on. Stops the load when the monitors report
// something that the guard names, keeps what changed in its health and what recovered or scrubbed,
// and takes the OSDs' counters around the I/O as the run's witness. Owned by the command that runs
// a plan; its thread never holds up an exit: a cluster that does not answer is left behind.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "base/json.h"
#include "ceph/cluster.h"
#include "job/plan.h"
#include "result/run_result.h"

namespace cephmark {

/// What one `ceph status` and `ceph health` say, as far as a run must know. Pure data.
struct ClusterState {
  std::string health;                                       ///< "HEALTH_OK"
  std::vector<std::pair<std::string, std::string>> checks;  ///< "SLOW_OPS" -> its summary
  std::vector<std::string> background_work;  ///< "scrubbing", "recovering", "backfilling" PG states
};

/// Reads the answer of `ceph status --format json`. Tolerates what is missing.
ClusterState cluster_state_from(const Json& status);

/// Why the guard stops a run, or "": the checks of `now` that `policy` names and that were not
/// there at `start`.
std::string guard_verdict(const ClusterState& start, const ClusterState& now,
                          const GuardPolicy& policy);

class ClusterWatch {
 public:
  /// Asks for the state that counts as the start; `pools` are those whose facts stand in the
  /// result. Throws Error when the cluster cannot be asked at all.
  ClusterWatch(std::shared_ptr<Cluster> cluster, const GuardPolicy& policy, std::stop_source stop,
               std::vector<std::string> pools = {});
  ~ClusterWatch();
  ClusterWatch(const ClusterWatch&) = delete;
  ClusterWatch& operator=(const ClusterWatch&) = delete;

  /// Just before the first I/O and just after the last: OSD counters. end() waits a second at the
  /// most when the OSDs do not answer.
  void io_begins();
  void io_ended();

  /// Puts what was seen into the result: environment.cluster, witness, the taints "guard",
  /// "health-change" and "recovery-or-scrub" are drawn from it by advice. Returns why the guard
  /// stopped the run, or "".
  std::string finish(RunResult& result);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace cephmark
