#include "ceph/osd_counters.h"

#include <fmt/format.h>

#include "base/error.h"

namespace cephmark {
namespace {

uint64_t counter(const Json& section, const char* name) {
  return section.contains(name) && section[name].is_number() ? section[name].get<uint64_t>() : 0;
}

uint64_t memory_target(Cluster& cluster, int osd) {
  const Json answer =
      cluster.osd_command(osd, {{"prefix", "config get"}, {"var", "osd_memory_target"}});
  const auto value = answer.find("osd_memory_target");
  if (value == answer.end()) return 0;
  return value->is_string() ? std::stoull(value->get<std::string>()) : value->get<uint64_t>();
}

void add_osd(Cluster& cluster, int osd, OsdCounters& sum) {
  const Json dump = cluster.osd_command(osd, {{"prefix", "perf dump"}});
  const Json section = dump.value("osd", Json::object());
  sum.read_ops += counter(section, "op_r");
  sum.write_ops += counter(section, "op_w");
  sum.read_write_ops += counter(section, "op_rw");
  sum.read_bytes += counter(section, "op_out_bytes");
  sum.write_bytes += counter(section, "op_in_bytes");
  sum.memory_target_bytes += memory_target(cluster, osd);
  ++sum.osds;
}

}  // namespace

OsdCounters read_osd_counters(Cluster& cluster) {
  OsdCounters sum;
  try {
    const Json map = cluster.monitor_command({{"prefix", "osd dump"}});
    for (const Json& osd : map.value("osds", Json::array()))
      if (osd.value("up", 0)) add_osd(cluster, osd.value("osd", -1), sum);
    sum.available = sum.osds > 0;
    if (!sum.available) sum.unavailable_reason = "no OSD is up";
  } catch (const Error& error) {
    sum.unavailable_reason = error.what();
    if (!error.hint().empty()) sum.unavailable_reason += "; " + error.hint();
  } catch (const std::exception& error) {
    sum.unavailable_reason =
        fmt::format("the answer of an OSD was not understood: {}", error.what());
  }
  return sum;
}

OsdCounters operator-(const OsdCounters& after, const OsdCounters& before) {
  OsdCounters delta = after;
  delta.available = after.available && before.available && after.osds == before.osds &&
                    after.read_ops >= before.read_ops && after.write_ops >= before.write_ops;
  if (!delta.available) {
    delta.unavailable_reason = !before.available  ? before.unavailable_reason
                               : !after.available ? after.unavailable_reason
                                                  : "an OSD was restarted during the run";
    return delta;
  }
  delta.read_ops -= before.read_ops;
  delta.write_ops -= before.write_ops;
  delta.read_write_ops -= before.read_write_ops;
  delta.read_bytes -= before.read_bytes;
  delta.write_bytes -= before.write_bytes;
  return delta;
}

}  // namespace cephmark
