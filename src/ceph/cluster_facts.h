// cluster_facts: what a result must say of the cluster that it was measured on: versions and pools,
// as people read them. Pure functions over the monitors' answers, and one that asks. Blocks; any
// thread but a library callback.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "ceph/cluster.h"

namespace cephmark {

/// `ceph versions`: "16.2.15 pacific"; "osd: 16.2.15 pacific (2), 18.2.7 reef (1); mon: ..." when
/// the daemons differ. "" when nothing is known.
std::string versions_text(const Json& versions);

/// "3 replicas (min_size 2), 32 PGs, compression aggressive, application rbd": from `ceph osd
/// dump`.
/// "" when there is no such pool.
std::string pool_text(const Json& osd_dump, const std::string& pool);

/// How full the pool is, from `ceph df`: 0..1; negative when there is no such pool.
double pool_fill(const Json& df, const std::string& pool);

/// "version", and for each pool "pool NAME" and "fill NAME" ("12.3 %"). What the key may not ask is
/// left out. Never throws.
std::map<std::string, std::string> cluster_facts(Cluster& cluster,
                                                 const std::vector<std::string>& pools);

}  // namespace cephmark
