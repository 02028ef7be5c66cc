#include "engine/rados_bench_options.h"

#include <unistd.h>

#include <cstdlib>

#include "base/host_name.h"
#include "engine/engines.h"

namespace cephmark {
namespace {

std::string prefix_of(const JobSpec& job) {
  if (std::string prefix = job.engine_option("prefix"); !prefix.empty()) return prefix;
  return bench_object_prefix(host_name(), ::getpid());
}

BenchLayout layout_of(const JobSpec& job) {
  const uint64_t op_size =
      job.block_sizes[op_index(job.rw.writes ? Op::kWrite : Op::kRead)].max_bytes;
  const uint64_t object_size = std::strtoull(job.engine_option("object_size").c_str(), nullptr, 10);
  return {object_size ? object_size : op_size, op_size};
}

BenchParts parts_of(const JobSpec& job) {
  BenchParts parts;
  parse_bench_parts(job.engine_option("parts"), parts);
  parts.omap_start_after = job.engine_option("omap_start_after");
  parts.omap_filter_prefix = job.engine_option("omap_filter_prefix");
  parts.omap_max_return = std::strtoull(job.engine_option("omap_max_return").c_str(), nullptr, 10);
  return parts;
}

}  // namespace

BenchQueueSettings bench_settings_of(const JobSpec& job) {
  BenchQueueSettings settings;
  settings.layout = layout_of(job);
  settings.prefix = prefix_of(job);
  settings.hints = job.engine_option("hints") != "0";
  settings.verify = job.engine_option("verify_contents") != "0";
  settings.contents = parse_bench_contents(job.engine_option("contents"));
  settings.parts = parts_of(job);
  return settings;
}

std::span<const EngineOption> rados_bench_options() {
  using Kind = EngineOption::Kind;
  static const std::vector<EngineOption> options = {
      {.name = "pool", .default_value = "rbd", .help = "pool of the objects"},
      {.name = "namespace", .help = "namespace of the objects"},
      {.name = "clientname", .help = "user to connect as, with or without client."},
      {.name = "clustername", .help = "name of the cluster: which conf is read"},
      {.name = "conf",
       .help = "configuration file of the cluster; CEPH_CONF and the default places without it"},
      {.name = "object_size",
       .kind = Kind::kSize,
       .help = "size of an object: as many ops as fit into it (default: one)"},
      {.name = "prefix",
       .help = "names: PREFIX_object0 and so on (default: benchmark_data_HOST_PID)"},
      {.name = "record",
       .help = "name of the object that describes a write run (rados bench's own: "
               "benchmark_last_metadata), written with keep_objects=1"},
      {.name = "move_record",
       .kind = Kind::kBool,
       .default_value = "0",
       .help = "1: a record of that name of another run is kept as RECORD.HOST_PID"},
      {.name = "hints",
       .kind = Kind::kBool,
       .default_value = "1",
       .help = "allocation hints with each write, as rados bench gives them"},
      {.name = "contents",
       .default_value = "z",
       .help = "what is written: z, as rados bench does, or random, which does not compress and "
               "which its own read runs cannot check"},
      {.name = "verify_contents",
       .kind = Kind::kBool,
       .default_value = "1",
       .help = "reads are compared with what was written (contents=); a difference is EILSEQ"},
      {.name = "parts",
       .default_value = "object",
       .help = "where an op's bytes are: object, omap, xattr, several with commas between them"},
      {.name = "omap_start_after",
       .help = "reads of parts=omap: keys after this one, instead of the op's own"},
      {.name = "omap_filter_prefix", .help = "reads of parts=omap: keys that begin so"},
      {.name = "omap_max_return",
       .kind = Kind::kInteger,
       .default_value = "0",
       .help = "reads of parts=omap: at most so many values (0: no limit)"},
      {.name = "reuse",
       .kind = Kind::kBool,
       .default_value = "0",
       .help = "1: objects of that prefix and that record may be there and are written over"},
      {.name = "keep_objects",
       .kind = Kind::kBool,
       .default_value = "0",
       .help = "1: the objects and the record stay, for read runs"},
  };
  return options;
}

}  // namespace cephmark
