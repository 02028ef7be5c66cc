#include "result/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "result/figures.h"

namespace cephmark {
namespace {

void check_same_plan(const Plan& first, const Plan& other, size_t part) {
  bool same = first.title == other.title && first.seed == other.seed &&
              first.vms.size() == other.vms.size();
  for (size_t i = 0; same && i < first.vms.size(); ++i)
    same = first.vms[i].name == other.vms[i].name &&
           first.vms[i].jobs.size() == other.vms[i].jobs.size();
  if (!same)
    throw Error(fmt::format("result {} of the run is of another plan than the first one", part + 1),
                "only results of the same run can be put together");
}

/// A fleet-wide phase begins with the first host and ends with the last.
void merge_phases(std::vector<PhaseSpan>& all, const std::vector<PhaseSpan>& more) {
  join_phases(all, more);
  std::stable_sort(all.begin(), all.end(),
                   [](const PhaseSpan& a, const PhaseSpan& b) { return a.start_ns < b.start_ns; });
}

void merge_facts(std::map<std::string, std::string>& all, const RunResult& part, size_t number) {
  const auto& facts = part.environment.host;
  const auto name = facts.find("hostname");
  const std::string host =
      name == facts.end() ? fmt::format("runner {}", number + 1) : name->second;
  for (const auto& [key, value] : facts) {
    const auto it = all.find(key);
    if (it == all.end())
      all[key] = value;
    else if (it->second != value)
      all[fmt::format("{}: {}", host, key)] = value;
  }
}

void merge_witness(ClusterWitness& all, const ClusterWitness& part) {
  const uint64_t reads = all.client_reads + part.client_reads,
                 writes = all.client_writes + part.client_writes,
                 read_bytes = all.client_read_bytes + part.client_read_bytes,
                 write_bytes = all.client_write_bytes + part.client_write_bytes;
  // The counters are the whole cluster's: every host would see the same. One view is enough, the
  // first that there is.
  if (!all.available && part.available)
    all = part;
  else if (!all.available && all.unavailable_reason.empty())
    all.unavailable_reason = part.unavailable_reason;
  all.client_reads = reads;
  all.client_writes = writes;
  all.client_read_bytes = read_bytes;
  all.client_write_bytes = write_bytes;
}

void merge_counts(RunResult& all, const RunResult& part) {
  all.exact_percentiles = all.exact_percentiles && part.exact_percentiles;
  all.start_wall_ns = std::min(all.start_wall_ns, part.start_wall_ns);
  all.end_wall_ns = std::max(all.end_wall_ns, part.end_wall_ns);
  all.fleet_response.merge(part.fleet_response);
  all.fleet_service.merge(part.fleet_service);
  for (int i = 0; i < kOpCount; ++i) {
    auto& slots = all.interval_response[i];
    if (slots.size() < part.interval_response[i].size())
      slots.resize(part.interval_response[i].size());
    for (size_t k = 0; k < part.interval_response[i].size(); ++k)
      slots[k].merge(part.interval_response[i][k]);
  }
  all.process_cpu.merge(part.process_cpu);
  all.allowed_cpus += part.allowed_cpus;
  all.connections += part.connections;
  all.late_arrivals += part.late_arrivals;
  if (all.stop_reason.empty()) all.stop_reason = part.stop_reason;
  if (all.error.empty()) all.error = part.error;
}

}  // namespace

RunResult merge_results(const std::vector<RunResult>& parts) {
  if (parts.empty()) throw Error("there is no result to put together");
  RunResult all = parts.front();
  std::set<std::pair<std::string, std::string>> told;
  for (const auto& taint : all.taints) told.emplace(taint.code, taint.text);
  for (size_t i = 1; i < parts.size(); ++i) {
    const RunResult& part = parts[i];
    check_same_plan(all.plan, part.plan, i);
    merge_counts(all, part);
    merge_phases(all.phases, part.phases);
    merge_facts(all.environment.host, part, i);
    merge_witness(all.witness, part.witness);
    all.vms.insert(all.vms.end(), part.vms.begin(), part.vms.end());
    for (const auto& taint : part.taints)
      if (told.emplace(taint.code, taint.text).second) all.taints.push_back(taint);
  }
  std::stable_sort(all.vms.begin(), all.vms.end(),
                   [](const VmResult& a, const VmResult& b) { return a.vm < b.vm; });
  for (size_t i = 1; i < all.vms.size(); ++i)
    if (all.vms[i].vm == all.vms[i - 1].vm)
      throw Error(fmt::format("two results hold VM {}", all.plan.vms.at(all.vms[i].vm).name),
                  "each VM belongs to one host");
  // The common window over all hosts is at most that of the one with the shortest.
  int64_t common_ns = 0;
  for (const auto& stage : figures_of(all).stages)
    common_ns += stage.common_end_ns - stage.common_start_ns;
  all.measured_ns = common_ns;
  return all;
}

}  // namespace cephmark
