// object_state: which objects a rados job works on that may be there already, and the states that
// hold of them. Asks, changes nothing.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ceph/cluster.h"
#include "fleet/device_state.h"
#include "job/plan.h"

namespace cephmark {

/// ObjectName texts of a rados job's objects; none when their names carry the run's id, since then
/// nothing can be there. `fio_names`: a real fio runs, whose engine has names of its own. Pure.
std::vector<std::string> planned_objects(const JobSpec& job, const Plan& plan, const VmPlan& vm,
                                         const std::string& run_id, bool fio_names);

/// In the order of `names`. An object in the manifest of a run on this cluster is that run's. What
/// cannot be seen is kUnknown. `progress` is told how many are done, by one thread at a time.
std::vector<StateReport> examine_objects(Cluster& cluster, const std::vector<std::string>& names,
                                         const std::function<void(size_t done)>& progress);

}  // namespace cephmark
