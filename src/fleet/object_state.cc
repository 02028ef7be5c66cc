#include "fleet/object_state.h"

#include <fmt/format.h>

#include <cerrno>
#include <ctime>
#include <map>
#include <mutex>

#include "base/error.h"
#include "ceph/object_name.h"
#include "engine/engine_table.h"
#include "engine/rados_options.h"
#include "fleet/image_state.h"
#include "fleet/manifest.h"

namespace cephmark {
namespace {

constexpr size_t kAtOnce = 16;

// Objects in the manifests of runs on this cluster, and whether one of those runs is alive.
std::map<std::string, bool> objects_of_runs(const std::string& fsid) {
  std::map<std::string, bool> live_by_object;
  for (const auto& run : list_manifests()) {
    if (run.fsid != fsid) continue;
    const bool live = manifest_is_live(run);
    for (const auto& entry : run.open)
      if (entry.kind == ResourceKind::kObject) live_by_object[entry.target] |= live;
  }
  return live_by_object;
}

StateReport examine_object(Cluster& cluster, const std::string& target,
                           const std::map<std::string, bool>& live_by_object) {
  StateReport report;
  try {
    const ObjectName name = parse_object_name(target);
    const IoContext io = cluster.io(name.pool, name.rados_namespace);
    uint64_t size_bytes = 0;
    time_t modified = 0;
    const int r = rados_stat(io.get(), name.object.c_str(), &size_bytes, &modified);
    if (r == -ENOENT)
      report.add(TargetState::kMissing);
    else if (r < 0)
      report.add(TargetState::kUnknown, errno_text(r));
    else if (const auto run = live_by_object.find(target); run != live_by_object.end())
      report.add(run->second ? TargetState::kLiveRun : TargetState::kOurs);
    else
      report.add(TargetState::kDataUntagged, fmt::format("{} bytes", size_bytes));
  } catch (const Error& error) {
    report.add(TargetState::kUnknown, error.what());
  }
  return report;
}

}  // namespace

std::vector<std::string> planned_objects(const JobSpec& job, const Plan& plan, const VmPlan& vm,
                                         const std::string& run_id, bool fio_names) {
  std::vector<std::string> names;
  if (fio_names)
    names = FileTarget::paths(job);
  else if (!rados_names_are_fresh(job, plan, run_id))
    names = rados_object_names(job, plan, vm, run_id);
  const std::string pool = pool_of(job), space = job.engine_option("namespace");
  for (std::string& name : names) name = ObjectName{pool, space, name}.text();
  return names;
}

std::vector<StateReport> examine_objects(Cluster& cluster, const std::vector<std::string>& names,
                                         const std::function<void(size_t done)>& progress) {
  const auto live_by_object = objects_of_runs(cluster.fsid());
  std::vector<StateReport> states(names.size());
  std::mutex mutex;
  size_t done = 0;
  for_each_parallel(names.size(), kAtOnce, [&](size_t i) {
    states[i] = examine_object(cluster, names[i], live_by_object);
    const std::lock_guard lock(mutex);
    if (progress) progress(++done);
  });
  return states;
}

}  // namespace cephmark
