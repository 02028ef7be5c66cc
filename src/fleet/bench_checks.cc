#include "fleet/bench_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/error.h"
#include "base/units.h"

namespace cephmark {
namespace {

/// Of the room below nearfull: the monitors hear of what is written some seconds later, and objects
/// are not spread quite evenly.
constexpr double kUsableShare = 0.9;

bool has_word(const std::string& list, const std::string& word) {
  return fmt::format(",{},", list).find(fmt::format(",{},", word)) != std::string::npos;
}

const Json* find_pool(const Json& osd_dump, const std::string& pool) {
  const auto pools = osd_dump.find("pools");
  if (pools == osd_dump.end()) return nullptr;
  for (const Json& row : *pools)
    if (row.value("pool_name", "") == pool) return &row;
  return nullptr;
}

/// The first placement group of the pool that PG_AVAILABILITY names, and what it says of it.
std::string inactive_group(const Json& health, int64_t pool_id) {
  const Json checks = health.value("checks", Json::object());
  const Json check = checks.value("PG_AVAILABILITY", Json::object());
  const Json details = check.value("detail", Json::array());
  const std::string begin = fmt::format("pg {}.", pool_id);
  for (const Json& line : details)
    if (const std::string message = line.value("message", ""); message.starts_with(begin))
      return message;
  return "";
}

template <typename Ask>
std::optional<Json> asked(Ask ask) {
  try {
    return ask();
  } catch (const Error&) {
    return std::nullopt;  // the key may not ask
  }
}

}  // namespace

std::string pool_obstacle(const Json& osd_dump, const Json& health, const std::string& pool,
                          bool writes) {
  const std::string flags = osd_dump.value("flags", "");
  if (has_word(flags, writes ? "pausewr" : "pauserd"))
    return fmt::format("the cluster is paused ({})", writes ? "pausewr" : "pauserd");
  const Json* row = find_pool(osd_dump, pool);
  if (!row) return "";
  const std::string pool_flags = row->value("flags_names", "");
  if (writes && has_word(pool_flags, "full_quota"))
    return fmt::format("pool {} has reached its quota", pool);
  if (writes && (has_word(pool_flags, "full") || has_word(flags, "full")))
    return fmt::format("pool {} is full", pool);
  const std::string group = inactive_group(health, row->value("pool", int64_t{-1}));
  if (!group.empty()) return fmt::format("pool {} does not serve: {}", pool, group);
  return "";
}

void check_pool_serves(Cluster& cluster, const std::string& pool, bool writes) {
  const auto dump = asked([&] { return cluster.monitor_command({{"prefix", "osd dump"}}); });
  const auto health = asked([&] {
    return cluster.monitor_command({{"prefix", "health"}, {"detail", "detail"}});
  });
  if (!dump || !dump->is_object()) return;
  const std::string obstacle =
      pool_obstacle(*dump, health && health->is_object() ? *health : Json::object(), pool, writes);
  if (!obstacle.empty())
    throw Error(obstacle, "ceph health detail tells more; ceph df has the room that is left");
}

void check_may_write(Cluster& cluster, const IoContext& io, const std::string& pool,
                     const std::string& absent) {
  rados_write_op_t op = rados_create_write_op();
  rados_write_op_remove(op);
  const int r =
      rados_write_op_operate2(op, io.get(), absent.c_str(), nullptr, LIBRADOS_OPERATION_FULL_TRY);
  rados_release_write_op(op);
  if (r == 0 || r == -ENOENT) return;
  if (r == -EPERM || r == -EACCES)
    throw PoolRefusal(
        fmt::format("user {} may not write to pool {}: {}", cluster.args().user, pool,
                    errno_text(r)),
        -r,
        fmt::format("ceph auth get {} shows its caps; writing takes osd 'allow rw pool={}'",
                    cluster.args().user, pool));
  throw PoolRefusal(fmt::format("pool {} refuses a write: {}", pool, errno_text(r)), -r);
}

std::optional<WritableSpace> writable_space(Cluster& cluster, const std::string& pool) {
  WritableSpace out;
  try {
    out.space = pool_space(cluster, pool);
  } catch (const Error&) {
    return std::nullopt;  // the key may not ask
  }
  out.bytes = static_cast<uint64_t>(static_cast<double>(out.space.free_below_nearfull_bytes) *
                                    kUsableShare);
  if (out.bytes == 0)
    throw Error(fmt::format("there is no room in pool {} ({}): it, or the cluster, is nearly full",
                            pool, out.space.redundancy),
                "ceph df tells what is there; --allow-nearfull writes all the same");
  return out;
}

}  // namespace cephmark
