#include "ceph/osd_benchmark.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "base/error.h"
#include "base/units.h"

namespace cephmark {
namespace {

constexpr uint64_t kSmall = kMiB;  ///< below it, writes are counted
constexpr const char* kIllEffects =
    "'count' values greater than {} for a block size of {}, assuming {}, for {} seconds, can cause "
    "ill effects on osd.  Please adjust '{}' with a higher value if you wish to use a higher "
    "'count'.";

// "" when the OSD knows no such option.
std::string osd_option(Cluster& cluster, int osd, const std::string& name) {
  const Json answer = cluster.osd_command(osd, {{"prefix", "config get"}, {"var", name}});
  return answer.is_object() ? answer.value(name, "") : "";
}

uint64_t osd_number(Cluster& cluster, int osd, const char* name, uint64_t otherwise) {
  const std::string text = osd_option(cluster, osd, name);
  return text.empty() ? otherwise : std::strtoull(text.c_str(), nullptr, 10);
}

}  // namespace

std::vector<OsdPlace> list_osds(Cluster& cluster) {
  const Json tree = cluster.monitor_command({{"prefix", "osd tree"}});
  std::map<int, std::string> host_of;
  std::vector<OsdPlace> osds;
  const Json& nodes = tree.at("nodes");
  for (const Json& node : nodes)
    if (node.value("type", "") == "host")
      for (const Json& child : node.value("children", Json::array()))
        host_of[child.get<int>()] = node.value("name", "");
  const auto add = [&](const Json& list) {
    for (const Json& node : list) {
      if (node.value("type", "") != "osd") continue;
      const int id = node.at("id").get<int>();
      osds.push_back(
          {id, host_of[id], node.value("device_class", ""), node.value("status", "") == "up"});
    }
  };
  add(nodes);
  const Json stray = tree.value("stray", Json::array());
  add(stray);
  std::sort(osds.begin(), osds.end(),
            [](const OsdPlace& a, const OsdPlace& b) { return a.id < b.id; });
  return osds;
}

uint64_t OsdBenchLimits::most_bytes(uint64_t block_bytes) const {
  return block_bytes < kSmall ? block_bytes * duration_s * small_iops
                              : large_bytes_per_s * duration_s;
}

OsdBenchLimits read_osd_bench_limits(Cluster& cluster, int osd) {
  OsdBenchLimits limits;
  limits.small_iops = osd_number(cluster, osd, "osd_bench_small_size_max_iops", limits.small_iops);
  limits.large_bytes_per_s =
      osd_number(cluster, osd, "osd_bench_large_size_max_throughput", limits.large_bytes_per_s);
  limits.duration_s = osd_number(cluster, osd, "osd_bench_duration", limits.duration_s);
  limits.max_block_bytes =
      osd_number(cluster, osd, "osd_bench_max_block_size", limits.max_block_bytes);
  return limits;
}

std::optional<OsdBenchRefusal> refusal_of(const OsdBenchShape& shape,
                                          const OsdBenchLimits& limits) {
  if (shape.block_bytes > limits.max_block_bytes)
    return OsdBenchRefusal{
        fmt::format("block 'size' values are capped at {}. If you wish to use a higher value, "
                    "please adjust 'osd_bench_max_block_size'",
                    format_size(limits.max_block_bytes)),
        fmt::format("a block of {} is more than the OSDs take ({}, osd_bench_max_block_size)",
                    format_size(shape.block_bytes), format_size(limits.max_block_bytes)),
        fmt::format("a BLOCK of {} or less", limits.max_block_bytes)};
  const uint64_t most = limits.most_bytes(shape.block_bytes);
  if (shape.total_bytes <= most) return std::nullopt;
  const bool small = shape.block_bytes < kSmall;
  const char* option =
      small ? "osd_bench_small_size_max_iops" : "osd_bench_large_size_max_throughput";
  const std::string pace = small ? fmt::format("{} IOPS", limits.small_iops)
                                 : fmt::format("{}/s", format_size(limits.large_bytes_per_s));
  return OsdBenchRefusal{
      fmt::format(fmt::runtime(kIllEffects), most, format_size(shape.block_bytes), pace,
                  limits.duration_s, option),
      fmt::format("{} in blocks of {} are more than the OSDs take: at the {} that they assume ({}) "
                  "that lasts longer than {} s (osd_bench_duration)",
                  format_size(shape.total_bytes), format_size(shape.block_bytes), pace, option,
                  limits.duration_s),
      fmt::format("a TOTAL of {} or less, or larger blocks", most)};
}

OsdBenchRun bench_osd(Cluster& cluster, int osd, const OsdBenchShape& shape) {
  Json command = {{"prefix", "bench"}, {"count", shape.total_bytes}, {"size", shape.block_bytes}};
  if (shape.object_bytes > 0) command["object_size"] = shape.object_bytes;
  if (shape.objects > 0) command["object_num"] = shape.objects;
  const Json answer = cluster.osd_command(osd, command);
  OsdBenchRun run;
  run.bytes_written = answer.at("bytes_written").get<uint64_t>();
  run.block_bytes = answer.at("blocksize").get<uint64_t>();
  run.elapsed_s = answer.at("elapsed_sec").get<double>();
  run.bytes_per_s = answer.at("bytes_per_sec").get<double>();
  run.iops = answer.value("iops", 0.0);
  return run;
}

OsdCapacity read_osd_capacity(Cluster& cluster, int osd) {
  OsdCapacity capacity;
  capacity.scheduler = osd_option(cluster, osd, "osd_op_queue");
  const Json metadata = cluster.monitor_command({{"prefix", "osd metadata"}, {"id", osd}});
  const bool rotational = metadata.value("rotational", "1") == "1";
  capacity.option = fmt::format("osd_mclock_max_capacity_iops_{}", rotational ? "hdd" : "ssd");
  try {
    capacity.iops = std::strtod(osd_option(cluster, osd, capacity.option).c_str(), nullptr);
  } catch (const Error&) {  // before Pacific there was none
  }
  return capacity;
}

}  // namespace cephmark
