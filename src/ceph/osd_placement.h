// osd_placement: names of objects by the OSD that serves them. Blocks; any thread but a library
// callback.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ceph/cluster.h"

namespace cephmark {

/// For each of `osds` (ids) `count` names that begin with `prefix`, of objects that the pool places
/// on that OSD as their primary; none of them need exist. OSDs that serve no placement group of the
/// pool as primary are left out. Asks the monitors about each name that it tries. `progress` is
/// told of how many OSDs are through. Throws Error.
std::map<int, std::vector<std::string>> names_by_primary(
    Cluster& cluster, const std::string& pool, const std::vector<int>& osds, size_t count,
    const std::string& prefix, const std::function<void(size_t done)>& progress = {});

}  // namespace cephmark
