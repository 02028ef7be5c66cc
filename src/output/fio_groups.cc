#include "output/fio_groups.h"

#include <algorithm>

namespace cephmark {
namespace {

void add(FioGroupDirection& group, uint64_t bytes, uint64_t runtime_ms) {
  const uint64_t bytes_per_s = bytes * 1000 / runtime_ms;
  const bool first = group.longest_ms == 0;
  group.bytes += bytes;
  group.least_bytes_per_s = first ? bytes_per_s : std::min(group.least_bytes_per_s, bytes_per_s);
  group.most_bytes_per_s = std::max(group.most_bytes_per_s, bytes_per_s);
  group.shortest_ms = first ? runtime_ms : std::min(group.shortest_ms, runtime_ms);
  group.longest_ms = std::max(group.longest_ms, runtime_ms);
}

}  // namespace

std::map<int64_t, std::array<FioGroupDirection, 4>> fio_groups(const Json& jobs) {
  std::map<int64_t, std::array<FioGroupDirection, 4>> groups;
  for (const auto& job : jobs) {
    auto& group = groups[job.at("groupid").get<int64_t>()];
    for (size_t i = 0; i < kFioDirections.size(); ++i) {
      const auto found = job.find(kFioDirections[i]);
      if (found == job.end()) continue;
      const auto runtime_ms = found->at("runtime").get<uint64_t>();
      if (runtime_ms > 0) add(group[i], found->at("io_bytes").get<uint64_t>(), runtime_ms);
    }
  }
  return groups;
}

}  // namespace cephmark
