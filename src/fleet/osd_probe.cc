#include "fleet/osd_probe.h"

#include <fmt/format.h>

namespace cephmark {
namespace {

JobSpec job_of(const OsdProbe& probe, const std::string& name, bool writes) {
  JobSpec job;
  job.name = writes ? "write" : "read";
  job.source = "osd probe";
  job.stage = job.group = writes ? 0 : 1;
  job.ioengine = "rados";
  job.engine_options = {{"pool", probe.pool}};
  if (!probe.rados_namespace.empty()) job.engine_options["namespace"] = probe.rados_namespace;
  job.filenames = {name};
  job.size = {SizeSpec::Kind::kBytes, probe.object_bytes};
  job.rw.reads = !writes;
  job.rw.writes = writes;
  job.rw.random = true;
  job.rw.name = writes ? "randwrite" : "randread";
  for (BlockSizes& sizes : job.block_sizes) sizes.min_bytes = sizes.max_bytes = probe.block_bytes;
  job.norandommap = true;
  job.randrepeat = false;
  job.runtime_ns = probe.runtime_ns;
  job.time_based = true;
  return job;
}

}  // namespace

Plan make_osd_probe_plan(const OsdProbe& probe, const std::vector<OsdPlace>& osds,
                         const std::map<int, std::vector<std::string>>& names) {
  Plan plan;
  plan.title = "osd-probe-" + probe.pool;
  plan.command = "osd probe";
  for (const OsdPlace& osd : osds) {
    const auto found = names.find(osd.id);
    if (found == names.end() || found->second.size() < OsdProbe::kNamesPerOsd) continue;
    VmPlan vm;
    vm.name = fmt::format("osd.{}", osd.id);
    vm.index = static_cast<int>(plan.vms.size());
    vm.host = osd.host;
    vm.group = osd.device_class;
    vm.jobs = {job_of(probe, found->second[0], true), job_of(probe, found->second[1], false)};
    plan.vms.push_back(std::move(vm));
  }
  return plan;
}

}  // namespace cephmark
