#include "result/codec.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/time.h"
#include "job/plan_codec.h"
#include "result/figures.h"

namespace cephmark {
namespace {

Json histogram_json(const Histogram& histogram) {
  return histogram.empty() ? Json(nullptr) : histogram.to_json();
}

Json op_json(const OpResult& op) {
  Json errors = Json::array();
  for (const auto& [code, count] : op.errors)
    errors.push_back({{"errno", code}, {"name", errno_name(code)}, {"count", count}});
  return {{"ios", op.ios},
          {"bytes", op.bytes},
          {"short_ios", op.short_ios},
          {"late_ios", op.late},
          {"errors", std::move(errors)},
          {"response", histogram_json(op.response)},
          {"service", histogram_json(op.service)},
          {"submit", histogram_json(op.submit)},
          {"series", op.series.to_json()}};
}

Json phases_json(const std::vector<PhaseSpan>& phases) {
  Json all = Json::array();
  for (const auto& phase : phases)
    all.push_back({{"kind", phase_name(phase.kind)},
                   {"stage", phase.stage},
                   {"start_ns", phase.start_ns},
                   {"end_ns", phase.end_ns}});
  return all;
}

Json cpu_json(const CpuUsage& cpu) {
  return {{"user_ns", cpu.user_ns},
          {"system_ns", cpu.system_ns},
          {"context_switches", cpu.context_switches},
          {"major_faults", cpu.major_faults},
          {"minor_faults", cpu.minor_faults}};
}

Json job_json(const JobResult& job) {
  Json ops = Json::object();
  for (int i = 0; i < kOpCount; ++i)
    if (job.ops[i]) ops[std::string(kOpNames[i])] = op_json(*job.ops[i]);
  Json samples = Json::array();
  for (const auto& sample : job.error_samples) {
    Json one = {{"at_ns", sample.at_ns},
                {"op", op_name(sample.op)},
                {"offset_bytes", sample.offset},
                {"length_bytes", sample.length},
                {"errno", sample.error}};
    if (sample.file != 0) one["file"] = sample.file;
    samples.push_back(std::move(one));
  }
  Json json = {{"job", job.job},
               {"ops", std::move(ops)},
               {"depth_counters",
                {{"depth", job.depths.depth},
                 {"submit", job.depths.submit},
                 {"complete", job.depths.complete}}},
               {"cpu", cpu_json(job.cpu)},
               {"phases", phases_json(job.phases)},
               {"error_samples", std::move(samples)},
               {"abandoned", job.abandoned},
               {"issued", job.issued},
               {"finished", job.finished},
               {"failure", job.failure}};
  if (job.end_flushes > 0)
    json["end_flushes"] = {{"ios", job.end_flushes}, {"longest_ns", job.end_flush_ns}};
  for (const auto& clone : job.clones) json["clones"].push_back(job_json(clone));
  return json;
}

Json vm_json(const VmResult& vm) {
  Json jobs = Json::array(), targets = Json::array();
  for (const auto& job : vm.jobs) jobs.push_back(job_json(job));
  for (const auto& target : vm.targets)
    targets.push_back({{"name", target.name},
                       {"size_bytes", target.size_bytes},
                       {"allocated_bytes",
                        target.allocated_bytes ? Json(*target.allocated_bytes) : Json(nullptr)},
                       {"region_bytes", target.region_bytes},
                       {"facts", target.facts}});
  return {{"vm", vm.vm}, {"jobs", std::move(jobs)}, {"targets", std::move(targets)}};
}

Json summary_json(const RunResult& result) {
  const RunFigures figures = figures_of(result);
  Json stages = Json::array();
  for (const auto& stage : figures.stages)
    stages.push_back(
        {{"iops", stage.data.iops},
         {"bytes_per_s", stage.data.bytes_per_s},
         {"p99_response_ns",
          stage.response.empty() ? Json(nullptr) : Json(stage.response.quantile_ns(0.99))}});
  return {{"title", result.plan.title},
          {"command", result.plan.command},
          {"start_utc", utc_time_text(result.start_wall_ns)},
          {"end_utc", utc_time_text(result.end_wall_ns)},
          {"vms", result.plan.vms.size()},
          {"errors", figures.errors},
          {"doubts", result.taints.size()},
          {"stopped", !result.stop_reason.empty() || !result.error.empty()},
          {"stages", std::move(stages)}};
}

Json witness_json(const ClusterWitness& witness) {
  return {{"available", witness.available},
          {"unavailable_reason", witness.unavailable_reason},
          {"read_ops", witness.read_ops},
          {"write_ops", witness.write_ops},
          {"read_bytes", witness.read_bytes},
          {"write_bytes", witness.write_bytes},
          {"extra_ops", witness.extra_ops},
          {"client_reads", witness.client_reads},
          {"client_writes", witness.client_writes},
          {"client_read_bytes", witness.client_read_bytes},
          {"client_write_bytes", witness.client_write_bytes},
          {"window_ns", witness.window_ns},
          {"health_changes", witness.health_changes},
          {"background_work", witness.background_work}};
}

Json intervals_json(const RunResult& result) {
  Json all = Json::object();
  for (int i = 0; i < kOpCount; ++i) {
    if (result.interval_response[i].empty()) continue;
    Json slots = Json::array();
    for (const auto& histogram : result.interval_response[i])
      slots.push_back(histogram_json(histogram));
    all[std::string(kOpNames[i])] = std::move(slots);
  }
  return all;
}

}  // namespace

Json result_to_json(const RunResult& result) {
  Json json;
  json["schema_version"] = RunResult::kSchemaVersion;
  json["summary"] = summary_json(result);
  json["id"] = result.id;
  json["runner"] = result.runner;
  json["exact_percentiles"] = result.exact_percentiles;
  json["start_wall_ns"] = result.start_wall_ns;
  json["end_wall_ns"] = result.end_wall_ns;
  json["stop_reason"] = result.stop_reason;
  json["error"] = result.error;
  Json taints = Json::array();
  for (const auto& taint : result.taints)
    taints.push_back({{"code", taint.code}, {"text", taint.text}});
  json["taints"] = std::move(taints);
  json["measured_ns"] = result.measured_ns;
  json["allowed_cpus"] = result.allowed_cpus;
  json["connections"] = result.connections;
  json["budget_ops"] = result.budget_ops;
  json["budget_bytes"] = result.budget_bytes;
  json["late_arrivals"] = result.late_arrivals;
  json["process_cpu"] = cpu_json(result.process_cpu);
  json["environment"] = {{"host", result.environment.host},
                         {"cluster", result.environment.cluster},
                         {"osd_memory_bytes", result.environment.osd_memory_bytes}};
  json["witness"] = witness_json(result.witness);
  json["phases"] = phases_json(result.phases);
  json["plan"] = plan_to_json(result.plan);
  json["fleet_response"] = histogram_json(result.fleet_response);
  json["fleet_service"] = histogram_json(result.fleet_service);
  json["interval_slot_ns"] = result.interval_slot_ns;
  json["interval_response"] = intervals_json(result);
  Json vms = Json::array();
  for (const auto& vm : result.vms) vms.push_back(vm_json(vm));
  json["vms"] = std::move(vms);
  return json;
}

std::string result_text(const RunResult& result) {
  const auto compact = [](const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  const Json document = result_to_json(result);
  std::string text = "{";
  const char* comma = "\n";
  for (const auto& [key, value] : document.items()) {
    text += fmt::format("{}{}: ", comma, compact(key));
    comma = ",\n";
    if (key != "vms" || value.empty()) {
      text += compact(value);
      continue;
    }
    const char* vm_comma = "[\n";
    for (const auto& vm : value) {
      text += vm_comma + compact(vm);
      vm_comma = ",\n";
    }
    text += "]";
  }
  return text + "\n}\n";
}

}  // namespace cephmark
