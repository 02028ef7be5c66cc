// osd_probe: a plan that meets every OSD by itself: a "VM" per OSD whose objects have it as their
// primary; small writes first, then, when all are done, small reads, one at a time per OSD. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ceph/osd_benchmark.h"
#include "job/plan.h"

namespace cephmark {

struct OsdProbe {
  static constexpr size_t kNamesPerOsd = 2;  ///< one for the writes, one for the reads

  std::string pool, rados_namespace;
  int64_t runtime_ns = 5'000'000'000;  ///< of each of the two
  uint64_t block_bytes = 4096, object_bytes = 4 << 20;
};

/// VmPlan: name "osd.3", host the OSD's, group its device class; job 0 writes, job 1 reads. Not
/// filled in: seed, ceph, limits. OSDs without names are left out.
Plan make_osd_probe_plan(const OsdProbe& probe, const std::vector<OsdPlace>& osds,
                         const std::map<int, std::vector<std::string>>& names);

}  // namespace cephmark
