#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "base/time.h"
#include "ceph/cluster.h"

namespace cephmark {
namespace {

const Json* find_pool(const Json& list, const char* key, const std::string& pool) {
  for (const auto& entry : list)
    if (entry.value(key, "") == pool) return &entry;
  return nullptr;
}

/// Ceph's JSON has numbers as strings in EC profiles.
int profile_number(const Json& profile, const char* key) {
  return profile.contains(key) ? std::atoi(profile.at(key).get<std::string>().c_str()) : 0;
}

}  // namespace

PoolSpace pool_space_from(const Json& df, const Json& osd_dump, const std::string& pool) {
  const Json* usage = find_pool(df.at("pools"), "name", pool);
  const Json* shape = find_pool(osd_dump.at("pools"), "pool_name", pool);
  if (!usage || !shape)
    throw Error(fmt::format("there is no pool '{}'", pool),
                "ceph osd pool ls names the pools that there are");
  PoolSpace space;
  space.pool = pool;
  const int size = shape->value("size", 1);
  const std::string profile_name = shape->value("erasure_code_profile", "");
  const Json& profiles = osd_dump.at("erasure_code_profiles");
  if (shape->value("type", 1) == 3 && profiles.contains(profile_name)) {
    const int k = std::max(1, profile_number(profiles.at(profile_name), "k"));
    const int m = profile_number(profiles.at(profile_name), "m");
    space.raw_factor = static_cast<double>(k + m) / k;
    space.redundancy = fmt::format("EC {}+{}", k, m);
  } else {
    space.raw_factor = std::max(1, size);
    space.redundancy = fmt::format("{} replicas", size);
  }
  const Json& stats = usage->at("stats");
  space.stored_bytes = stats.value("stored", uint64_t{0});
  space.free_bytes = stats.value("max_avail", uint64_t{0});
  space.used_fraction = stats.value("percent_used", 0.0);
  space.nearfull_ratio = osd_dump.value("nearfull_ratio", 0.85);
  const double full_ratio = osd_dump.value("full_ratio", 0.95);

  // MAX AVAIL counts up to the full ratio (PGMap::get_rule_avail); nearfull comes earlier by that
  // share of the raw space.
  const double total_raw = df.at("stats").value("total_bytes", 0.0);
  const double margin =
      std::max(0.0, full_ratio - space.nearfull_ratio) * total_raw / space.raw_factor;
  space.free_below_nearfull_bytes =
      space.free_bytes > margin
          ? static_cast<uint64_t>(static_cast<double>(space.free_bytes) - margin)
          : 0;
  const uint64_t quota = stats.value("quota_bytes", uint64_t{0});
  if (quota)
    space.free_below_nearfull_bytes =
        std::min(space.free_below_nearfull_bytes,
                 quota > space.stored_bytes ? quota - space.stored_bytes : 0);
  return space;
}

PoolSpace pool_space(Cluster& cluster, const std::string& pool) {
  // The statistics of a pool that was just made come some seconds after it.
  constexpr int64_t kFirstStatistics_ns = 20 * kNsPerSecond;
  const Json dump = cluster.monitor_command({{"prefix", "osd dump"}});
  const bool exists = find_pool(dump.at("pools"), "pool_name", pool);
  for (const int64_t end_ns = monotonic_ns() + kFirstStatistics_ns;; ::usleep(500'000)) {
    const Json df = cluster.monitor_command({{"prefix", "df"}, {"detail", "detail"}});
    if (!exists || find_pool(df.at("pools"), "name", pool) || monotonic_ns() > end_ns)
      return pool_space_from(df, dump, pool);
  }
}

}  // namespace cephmark
