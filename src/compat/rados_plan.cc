#include "compat/rados_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/time.h"

namespace cephmark {
namespace {

bool writes(const RadosArguments& arguments) {
  return arguments.mode == RadosBenchMode::kWrite;
}

const char* mode_name(RadosBenchMode mode) {
  switch (mode) {
    case RadosBenchMode::kWrite:
      return "write";
    case RadosBenchMode::kSequentialRead:
      return "seq";
    case RadosBenchMode::kRandomRead:
      return "rand";
  }
  return "";
}

void set_pattern(JobSpec& job, RadosBenchMode mode) {
  job.rw = {};
  job.rw.reads = mode != RadosBenchMode::kWrite;
  job.rw.writes = mode == RadosBenchMode::kWrite;
  job.rw.random = mode == RadosBenchMode::kRandomRead;
  job.rw.name = job.rw.random ? "randread" : job.rw.writes ? "write" : "read";
  // Any op at any time, for as long as it takes: not each one once.
  job.norandommap = job.time_based = job.rw.random;
  job.randrepeat = false;
}

std::map<std::string, std::string> engine_options(const RadosArguments& arguments,
                                                  const RadosBenchRun& run) {
  const auto flag = [](bool on) { return std::string(on ? "1" : "0"); };
  std::map<std::string, std::string> options = {
      {"pool", arguments.pool},   {"namespace", arguments.rados_namespace},
      {"prefix", run.prefix},     {"object_size", std::to_string(run.layout.object_size_bytes)},
      {"contents", run.contents}, {"parts", run.parts},
  };
  if (writes(arguments)) {
    options["record"] = run.run_name;
    options["hints"] = flag(arguments.hints);
    options["reuse"] = flag(arguments.reuse_bench);
    options["keep_objects"] = flag(!arguments.cleanup || arguments.reuse_bench);
    options["move_record"] = flag(run.compat);
  } else {
    options["verify_contents"] = flag(arguments.verify);
    options["omap_start_after"] = arguments.omap_start_after;
    options["omap_filter_prefix"] = arguments.omap_filter_prefix;
    options["omap_max_return"] = std::to_string(arguments.omap_max_return);
  }
  return options;
}

}  // namespace

uint64_t most_ops(const RadosArguments& arguments, const BenchLayout& layout, uint64_t max_bytes) {
  constexpr uint64_t kCountable = std::numeric_limits<int32_t>::max();
  // Offsets of ops are 63 bits.
  const uint64_t addressable =
      static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) / layout.op_size_bytes;
  uint64_t ops = std::min({kCountable, addressable, max_bytes / layout.op_size_bytes});
  if (arguments.max_objects > 0 && arguments.max_objects <= ops / layout.ops_per_object())
    ops = arguments.max_objects * layout.ops_per_object();
  return ops;
}

std::string parts_text(const RadosBenchParts& parts) {
  std::string text;
  const auto add = [&](bool on, const char* word) {
    if (on) text += (text.empty() ? "" : ",") + std::string(word);
  };
  add(parts.object, "object");
  add(parts.omap, "omap");
  add(parts.xattr, "xattr");
  return text;
}

Plan make_rados_bench_plan(const RadosArguments& arguments, const RadosBenchRun& run,
                           const std::vector<std::string>& argv) {
  JobSpec job;
  job.name = mode_name(arguments.mode);
  job.source = "command line";
  job.ioengine = "rados-bench";
  job.engine_options = engine_options(arguments, run);
  set_pattern(job, arguments.mode);
  for (BlockSizes& sizes : job.block_sizes)
    sizes.min_bytes = sizes.max_bytes = run.layout.op_size_bytes;
  job.size = {SizeSpec::Kind::kBytes, run.ops * run.layout.op_size_bytes};
  job.iodepth = arguments.concurrent_ios;
  if (arguments.seconds > 0) job.runtime_ns = arguments.seconds * kNsPerSecond;
  if (arguments.seconds == 0) {  // what is sent off at first, and nothing behind it
    job.number_ios = arguments.concurrent_ios;
    job.time_based = false;
  }

  Plan plan;
  plan.title = fmt::format("rados-{}", job.name);
  plan.command = "rados";
  plan.arguments = argv;
  plan.vms.emplace_back().jobs = {job};
  plan.ceph = arguments.ceph;
  plan.limits.connections = 1;
  plan.limits.slot_ns = 100 * kNsPerMs;  // a row each second: counts come one slot late
  // Slow operations are what people come to see.
  plan.guard.slow_ops = false;
  return plan;
}

RadosBenchReportOptions rados_bench_report_options(const RadosArguments& arguments,
                                                   const RadosBenchRun& run) {
  RadosBenchReportOptions options;
  options.format = arguments.format;
  options.compat = run.compat;
  options.json_strings = arguments.json_strings;
  options.show_time = arguments.show_time;
  options.hints = arguments.hints;
  options.writes = writes(arguments);
  options.concurrent_ios = arguments.concurrent_ios;
  options.op_size_bytes = run.layout.op_size_bytes;
  options.object_size_bytes = run.layout.object_size_bytes;
  options.seconds = arguments.seconds;
  options.max_objects = arguments.max_objects;
  options.run_name = writes(arguments) && arguments.cleanup ? "" : run.run_name;
  options.object_prefix = run.prefix;
  return options;
}

}  // namespace cephmark
