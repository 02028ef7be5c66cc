#include "ceph/osd_placement.h"

#include <fmt/format.h>

#include "base/error.h"

namespace cephmark {
namespace {

/// So many tries per OSD and name find one with near certainty where each has its share: an OSD
/// without any is one that serves nothing as primary.
constexpr size_t kTries = 24;
constexpr size_t kFewestTries = 200;

int primary_of(Cluster& cluster, const std::string& pool, const std::string& name) {
  const Json answer =
      cluster.monitor_command({{"prefix", "osd map"}, {"pool", pool}, {"object", name}});
  return answer.value("acting_primary", -1);
}

}  // namespace

std::map<int, std::vector<std::string>> names_by_primary(
    Cluster& cluster, const std::string& pool, const std::vector<int>& osds, size_t count,
    const std::string& prefix, const std::function<void(size_t done)>& progress) {
  std::map<int, std::vector<std::string>> names;
  for (const int osd : osds) names[osd];
  const size_t tries = kFewestTries + kTries * osds.size() * count;
  size_t complete = 0;
  for (size_t i = 0; i < tries && complete < names.size(); ++i) {
    const std::string name = fmt::format("{}{}", prefix, i);
    const auto found = names.find(primary_of(cluster, pool, name));
    if (found == names.end() || found->second.size() == count) continue;
    found->second.push_back(name);
    if (found->second.size() < count) continue;
    ++complete;
    if (progress) progress(complete);
  }
  std::erase_if(names, [&](const auto& entry) { return entry.second.size() < count; });
  return names;
}

}  // namespace cephmark
