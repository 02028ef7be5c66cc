// The reading half of the codec.
#include <fmt/format.h>

#include "base/error.h"
#include "job/plan_codec.h"
#include "result/codec.h"
#include "result/figures.h"
#include "result/object_reader.h"

namespace cephmark {
namespace {

constexpr int64_t kMaxErrno = 1 << 20;

Histogram read_histogram(ObjectReader& in, const std::string& key) {
  const Json& value = in.at(key);
  return value.is_null() ? Histogram() : Histogram::from_json(value, in.path(key));
}

int read_op(const std::string& name) {
  for (int i = 0; i < kOpCount; ++i)
    if (kOpNames[i] == name) return i;
  return -1;
}

OpResult read_op_result(const Json& json, const std::string& where) {
  ObjectReader in(json, where);
  OpResult op;
  op.ios = in.count("ios");
  op.bytes = in.count("bytes");
  op.short_ios = in.count("short_ios");
  op.late = in.count("late_ios");
  for (const Json& item : in.array("errors")) {
    ObjectReader error(item, in.path("errors[]"));
    const int code = static_cast<int>(error.integer("errno", 1, kMaxErrno));
    error.text("name");
    if (!op.errors.emplace(code, error.count("count")).second) error.fail("errno", "stands twice");
    error.done();
  }
  op.response = read_histogram(in, "response");
  op.service = read_histogram(in, "service");
  op.submit = read_histogram(in, "submit");
  op.series = Series::from_json(in.at("series"), in.path("series"));
  in.done();
  return op;
}

std::vector<PhaseSpan> read_phases(ObjectReader& in) {
  std::vector<PhaseSpan> all;
  for (const Json& item : in.array("phases")) {
    ObjectReader phase(item, in.path(fmt::format("phases[{}]", all.size())));
    PhaseSpan span;
    const std::string name = phase.text("kind");
    bool known = false;
    for (int kind = 0; kind < kPhaseKindCount; ++kind)
      if (name == phase_name(static_cast<PhaseKind>(kind))) {
        span.kind = static_cast<PhaseKind>(kind);
        known = true;
      }
    if (!known) phase.fail("kind", "is not a known phase");
    span.stage = static_cast<int>(phase.integer("stage", 0, INT32_MAX));
    span.start_ns = phase.integer("start_ns");
    span.end_ns = phase.integer("end_ns");
    phase.done();
    all.push_back(span);
  }
  return all;
}

CpuUsage read_cpu(ObjectReader& parent, const std::string& key) {
  ObjectReader in(parent.at(key), parent.path(key));
  CpuUsage cpu;
  cpu.user_ns = in.integer("user_ns", 0);
  cpu.system_ns = in.integer("system_ns", 0);
  cpu.context_switches = in.count("context_switches");
  cpu.major_faults = in.count("major_faults");
  cpu.minor_faults = in.count("minor_faults");
  in.done();
  return cpu;
}

void read_counters(ObjectReader& in, const std::string& key, std::array<uint64_t, 7>& counters) {
  const Json& values = in.array(key);
  if (values.size() != counters.size()) in.fail(key, "must have 7 numbers");
  for (size_t i = 0; i < counters.size(); ++i) {
    if (!values[i].is_number_unsigned()) in.fail(key, "must have 7 whole numbers, 0 or more");
    counters[i] = values[i].get<uint64_t>();
  }
}

ErrorSample read_error_sample(const Json& json, const std::string& where) {
  ObjectReader in(json, where);
  ErrorSample sample;
  sample.at_ns = in.integer("at_ns");
  const int op = read_op(in.text("op"));
  if (op < 0) in.fail("op", "is not a known kind of I/O");
  sample.op = static_cast<Op>(op);
  sample.offset = in.count("offset_bytes");
  sample.length = in.count("length_bytes");
  sample.error = static_cast<int>(in.integer("errno", 1, kMaxErrno));
  if (in.find("file")) sample.file = static_cast<uint32_t>(in.count("file", UINT32_MAX));
  in.done();
  return sample;
}

JobResult read_job(const Json& json, const std::string& where, const VmPlan& plan,
                   bool is_clone = false) {
  ObjectReader in(json, where);
  JobResult job;
  job.job = static_cast<int>(in.integer("job", 0, INT32_MAX));
  if (job.job >= static_cast<int>(plan.jobs.size())) in.fail("job", "is no job of the plan");
  const Json& ops = in.at("ops");
  if (!ops.is_object()) in.fail("ops", "must be an object");
  for (const auto& [name, value] : ops.items()) {
    const int op = read_op(name);
    if (op < 0) in.fail("ops." + name, "is not a known kind of I/O");
    job.ops[op] = read_op_result(value, in.path("ops." + name));
  }
  ObjectReader depths(in.at("depth_counters"), in.path("depth_counters"));
  read_counters(depths, "depth", job.depths.depth);
  read_counters(depths, "submit", job.depths.submit);
  read_counters(depths, "complete", job.depths.complete);
  depths.done();
  job.cpu = read_cpu(in, "cpu");
  job.phases = read_phases(in);
  for (const Json& sample : in.array("error_samples"))
    job.error_samples.push_back(read_error_sample(sample, in.path("error_samples[]")));
  job.abandoned = in.integer("abandoned", 0);
  job.issued = in.count("issued");
  job.finished = in.boolean("finished");
  job.failure = in.text("failure");
  if (const Json* flushes = in.find("end_flushes")) {
    ObjectReader end(*flushes, in.path("end_flushes"));
    job.end_flushes = end.count("ios");
    job.end_flush_ns = end.integer("longest_ns", 0);
    end.done();
  }
  if (!is_clone && json.contains("clones"))
    for (const Json& clone : in.array("clones"))
      job.clones.push_back(read_job(clone, in.path("clones[]"), plan, true));
  in.done();
  return job;
}

VmResult read_vm(const Json& json, const std::string& where, const Plan& plan) {
  ObjectReader in(json, where);
  VmResult vm;
  vm.vm = static_cast<int>(in.integer("vm", 0, INT32_MAX));
  if (vm.vm >= static_cast<int>(plan.vms.size())) in.fail("vm", "is no VM of the plan");
  for (const Json& job : in.array("jobs"))
    vm.jobs.push_back(
        read_job(job, in.path(fmt::format("jobs[{}]", vm.jobs.size())), plan.vms[vm.vm]));
  for (const Json& item : in.array("targets")) {
    ObjectReader target(item, in.path(fmt::format("targets[{}]", vm.targets.size())));
    TargetFacts facts;
    facts.name = target.text("name");
    facts.size_bytes = target.count("size_bytes");
    if (!target.at("allocated_bytes").is_null())
      facts.allocated_bytes = target.count("allocated_bytes");
    facts.region_bytes = target.count("region_bytes");
    facts.facts = target.texts("facts");
    target.done();
    vm.targets.push_back(std::move(facts));
  }
  in.done();
  return vm;
}

ClusterWitness read_witness(ObjectReader& parent) {
  ObjectReader in(parent.at("witness"), parent.path("witness"));
  ClusterWitness witness;
  witness.available = in.boolean("available");
  witness.unavailable_reason = in.text("unavailable_reason");
  witness.read_ops = in.count("read_ops");
  witness.write_ops = in.count("write_ops");
  witness.read_bytes = in.count("read_bytes");
  witness.write_bytes = in.count("write_bytes");
  witness.extra_ops = in.count("extra_ops");
  witness.client_reads = in.count("client_reads");
  witness.client_writes = in.count("client_writes");
  witness.client_read_bytes = in.count("client_read_bytes");
  witness.client_write_bytes = in.count("client_write_bytes");
  witness.window_ns = in.integer("window_ns", 0);
  witness.health_changes = in.text_list("health_changes");
  witness.background_work = in.text_list("background_work");
  in.done();
  return witness;
}

void read_intervals(ObjectReader& in, RunResult& result) {
  const Json& all = in.at("interval_response");
  if (!all.is_object()) in.fail("interval_response", "must be an object");
  for (const auto& [name, slots] : all.items()) {
    const int op = read_op(name);
    if (op < 0 || !slots.is_array())
      in.fail("interval_response." + name, "must be an array under a kind of I/O");
    for (const Json& slot : slots)
      result.interval_response[op].push_back(
          slot.is_null() ? Histogram()
                         : Histogram::from_json(slot, in.path("interval_response." + name)));
  }
}

void read_environment(ObjectReader& parent, Environment& environment) {
  ObjectReader in(parent.at("environment"), parent.path("environment"));
  environment.host = in.texts("host");
  environment.cluster = in.texts("cluster");
  environment.osd_memory_bytes = in.count("osd_memory_bytes");
  in.done();
}

}  // namespace

RunResult result_from_json(const Json& json, const std::string& what) {
  ObjectReader in(json, what);
  const int64_t version = in.integer("schema_version");
  if (version != RunResult::kSchemaVersion)
    throw Error(fmt::format("{}: is a result of schema version {}; this program reads version {}",
                            what, version, RunResult::kSchemaVersion),
                "use the cephmark that wrote it");
  in.at("summary");
  RunResult result;
  result.id = in.text("id");
  result.runner = in.text("runner");
  result.exact_percentiles = in.boolean("exact_percentiles");
  result.start_wall_ns = in.integer("start_wall_ns");
  result.end_wall_ns = in.integer("end_wall_ns");
  result.stop_reason = in.text("stop_reason");
  result.error = in.text("error");
  for (const Json& item : in.array("taints")) {
    ObjectReader taint(item, in.path("taints[]"));
    result.taints.push_back({taint.text("code"), taint.text("text")});
    taint.done();
  }
  result.measured_ns = in.integer("measured_ns", 0);
  result.allowed_cpus = static_cast<int>(in.integer("allowed_cpus", 0, INT32_MAX));
  result.connections = static_cast<int>(in.integer("connections", 0, INT32_MAX));
  result.budget_ops = in.count("budget_ops");
  result.budget_bytes = in.count("budget_bytes");
  result.late_arrivals = in.count("late_arrivals");
  result.process_cpu = read_cpu(in, "process_cpu");
  read_environment(in, result.environment);
  result.witness = read_witness(in);
  result.phases = read_phases(in);
  result.plan = plan_from_json(in.at("plan"));
  result.fleet_response = read_histogram(in, "fleet_response");
  result.fleet_service = read_histogram(in, "fleet_service");
  result.interval_slot_ns = in.integer("interval_slot_ns", 0);
  read_intervals(in, result);
  for (const Json& vm : in.array("vms"))
    result.vms.push_back(
        read_vm(vm, in.path(fmt::format("vms[{}]", result.vms.size())), result.plan));
  in.done();
  return result;
}

RunResult parse_result(std::string_view text, const std::string& what) {
  return result_from_json(parse_json(text, what), what);
}

}  // namespace cephmark
