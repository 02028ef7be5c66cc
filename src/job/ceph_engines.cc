#include "job/ceph_engines.h"

#include <algorithm>
#include <array>

namespace cephmark {

bool needs_ceph(std::string_view ioengine) {
  static constexpr auto kEngines = std::to_array<std::string_view>({"rados", "rados-bench", "rbd"});
  return std::find(kEngines.begin(), kEngines.end(), ioengine) != kEngines.end();
}

const JobSpec* first_ceph_job(const Plan& plan) {
  for (const VmPlan& vm : plan.vms)
    for (const JobSpec& job : vm.jobs)
      if (needs_ceph(job.ioengine)) return &job;
  return nullptr;
}

}  // namespace cephmark
