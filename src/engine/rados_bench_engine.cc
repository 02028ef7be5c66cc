// rados-bench: objects as `rados bench` names, fills and describes them, through librados: what it
// wrote can be read and checked here, and the other way round (docs/rados-bench.md). An op of the
// job is an op of rados bench: bs= is its size, and its number is its offset over bs.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "base/error.h"
#include "base/units.h"
#include "ceph/object_name.h"
#include "ceph/rados_bench_objects.h"
#include "engine/engines.h"
#include "engine/rados_bench_queue.h"
#include "engine/rados_options.h"

namespace cephmark {
namespace {

std::string prefix_of(const JobSpec& job) {
  if (std::string prefix = job.engine_option("prefix"); !prefix.empty()) return prefix;
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return bench_object_prefix(host, ::getpid());
}

uint64_t op_size_of(const JobSpec& job) {
  return job.block_sizes[op_index(job.rw.writes ? Op::kWrite : Op::kRead)].max_bytes;
}

BenchLayout layout_of(const JobSpec& job) {
  const uint64_t op_size = op_size_of(job);
  const uint64_t object_size = std::strtoull(job.engine_option("object_size").c_str(), nullptr, 10);
  return {object_size ? object_size : op_size, op_size};
}

class RadosBenchEngine : public Engine {
 public:
  RadosBenchEngine(const JobSpec& job, const EngineContext& context)
      : job_(job),
        context_(context),
        pool_(*context.connections),
        connection_(pool_.connection(context.vm, job)),
        settings_{layout_of(job), prefix_of(job), job.engine_option("hints") != "0",
                  job.engine_option("verify_contents") != "0"} {}

  TargetInfo open() override {
    check_job();
    Cluster& cluster = connection_.cluster();
    io_ = std::make_shared<IoContext>(cluster.io(pool_of(job_), job_.engine_option("namespace")));
    check_object_size(cluster);
    check_alignment();
    if (job_.rw.writes) check_fresh();

    TargetInfo info;
    info.name = text_of(settings_.prefix);
    info.size_bytes = job_.offset.value + job_.size.value;
    info.block_size_bytes = settings_.layout.op_size_bytes;
    info.facts["user"] = cluster.args().user;
    info.facts["objects"] = fmt::format("{} of {}", bench_object_pattern(settings_.prefix),
                                        format_size(settings_.layout.object_size_bytes));
    if (job_.rw.writes) info.facts["allocation hints"] = settings_.hints ? "given" : "none";
    if (job_.rw.reads) info.facts["contents"] = settings_.verify ? "compared" : "not compared";
    return info;
  }

  void prepare(bool will_write, int64_t) override {
    if (!will_write || keeps_objects() || !context_.about_to_create_objects) return;
    (*context_.about_to_create_objects)({text_of(bench_object_pattern(settings_.prefix))});
  }

  std::unique_ptr<IoQueue> make_queue(const QueueSetup& setup) override {
    return std::make_unique<RadosBenchQueue>(io_->get(), pool_, setup, settings_, progress_);
  }

  // The record is there after a run that was interrupted, too: what it wrote can be read.
  void close() override {
    if (io_ && job_.rw.writes && progress_.sent() > 0) write_record();
    io_.reset();
  }

 private:
  std::string text_of(const std::string& object) const {
    return ObjectName{pool_of(job_), job_.engine_option("namespace"), object}.text();
  }
  bool keeps_objects() const { return job_.engine_option("keep_objects") == "1"; }

  [[noreturn]] void refuse(const std::string& why, const std::string& hint) const {
    throw UsageError(fmt::format("job {} ({}): {}", job_.name, job_.source, why), hint);
  }

  void check_job() const {
    if (job_.rw.trims || job_.rw.reads == job_.rw.writes || (job_.rw.writes && job_.rw.random))
      refuse(fmt::format("the rados-bench engine cannot do rw={}", job_.rw.name),
             "rw=write, read or randread");
    const BlockSizes& sizes = job_.block_sizes[op_index(job_.rw.writes ? Op::kWrite : Op::kRead)];
    if (sizes.min_bytes != sizes.max_bytes || !sizes.splits.empty())
      refuse("the rados-bench engine has ops of one size", "bs=SIZE");
    if (job_.size.kind != SizeSpec::Kind::kBytes || job_.offset.kind == SizeSpec::Kind::kPercent)
      refuse("the rados-bench engine needs size= in bytes", "size= of all ops together");
    if (job_.numjobs > 1 || job_.nrfiles > 1)
      refuse("the rados-bench engine numbers its ops in one row: no numjobs, no nrfiles",
             "iodepth= for more at once");
    if (job_.engine_option("reuse") == "1" && job_.rw.writes && !keeps_objects())
      refuse(
          "reuse=1 writes over objects that were there before, which would be removed at the end",
          "keep_objects=1");
    const BenchLayout& layout = settings_.layout;
    if (layout.op_size_bytes > layout.object_size_bytes)
      refuse(fmt::format("an op of {} does not fit into an object of {}",
                         format_size(layout.op_size_bytes), format_size(layout.object_size_bytes)),
             "object_size= of bs or more");
    if (!std::string_view(settings_.prefix).starts_with(kBenchPrefix))
      refuse(fmt::format("prefix={} does not begin with {}", settings_.prefix, kBenchPrefix),
             "that is how clean-ups know such objects");
  }

  void check_object_size(Cluster& cluster) const {
    const uint64_t limit = max_object_bytes(cluster);
    if (limit && settings_.layout.object_size_bytes > limit)
      throw Error(fmt::format("objects of {} are too large, the cluster takes them up to {} "
                              "(osd_max_object_size)",
                              format_size(settings_.layout.object_size_bytes), format_size(limit)),
                  "a smaller object size");
  }

  void check_alignment() const {
    const uint64_t alignment = append_alignment(*io_);
    if (alignment == 0) return;
    const BenchLayout& layout = settings_.layout;
    if (layout.op_size_bytes % alignment == 0 &&
        (layout.op_size_bytes == layout.object_size_bytes || job_.iodepth == 1 || !job_.rw.writes))
      return;
    throw Error(fmt::format("pool {} is erasure coded without overwrites: its objects can only be "
                            "appended to, in multiples of {}",
                            pool_of(job_), format_size(alignment)),
                "one op per object of a multiple of that");
  }

  // What another run wrote is not written over: its objects (the first is there when any are), and
  // the record without which they would not be found again.
  void check_fresh() const {
    if (job_.engine_option("reuse") == "1") return;
    BenchNamer namer(settings_.prefix);
    if (exists(namer.name_of(0)))
      throw Error(
          fmt::format("object {} is there already, from another run", text_of(namer.name_of(0))),
          fmt::format("'rados -p {} cleanup --prefix {}' removes that run's objects", pool_of(job_),
                      settings_.prefix));
    const std::string record = job_.engine_option("record");
    if (!record.empty() && keeps_objects() && exists(record))
      throw Error(fmt::format("{} is there already: it describes another run, whose objects would "
                              "not be found without it",
                              text_of(record)),
                  fmt::format("another record=, or 'rados -p {} cleanup --run-name {}'",
                              pool_of(job_), record));
  }

  bool exists(const std::string& object) const {
    uint64_t size = 0;
    time_t modified = 0;
    const int r = rados_stat(io_->get(), object.c_str(), &size, &modified);
    if (r < 0 && r != -ENOENT)
      throw Error(fmt::format("cannot look at object {}: {}", text_of(object), errno_text(r)));
    return r == 0;
  }

  void write_record() {
    const std::string name = job_.engine_option("record");
    if (name.empty() || !keeps_objects()) return;
    BenchRecord record{settings_.layout, 0, 0};
    record.ops = static_cast<int32_t>(
        std::min<uint64_t>(progress_.written(), std::numeric_limits<int32_t>::max()));
    // What the names say: another process may have given them.
    const auto parts = parse_bench_name(settings_.prefix + "_object0");
    record.pid = static_cast<int32_t>(parts ? parts->pid : ::getpid());
    const auto bytes = record.encode();
    const int r = rados_write_full(io_->get(), name.c_str(),
                                   reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (r < 0)
      throw Error(fmt::format("cannot write the run's record {}: {}", text_of(name), errno_text(r)),
                  fmt::format("its objects begin with {}", settings_.prefix));
  }

  const JobSpec job_;
  const EngineContext context_;
  ConnectionPool& pool_;
  Connection& connection_;
  const BenchQueueSettings settings_;
  BenchProgress progress_;
  std::shared_ptr<IoContext> io_;
};

}  // namespace

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
      {.name = "hints",
       .kind = Kind::kBool,
       .default_value = "1",
       .help = "allocation hints with each write, as rados bench gives them"},
      {.name = "verify_contents",
       .kind = Kind::kBool,
       .default_value = "1",
       .help = "reads are compared with what rados bench writes; a difference is EILSEQ"},
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

std::string rados_bench_target_key(const JobSpec& job, const EngineContext& context) {
  const BenchLayout layout = layout_of(job);
  return fmt::format("rados-bench:{}:{}:{}:{}:{}:{}:{}:{}:{}", context.vm.name, pool_of(job),
                     job.engine_option("namespace"), prefix_of(job), layout.object_size_bytes,
                     layout.op_size_bytes, job.rw.name, job.offset.value, job.size.value);
}

std::unique_ptr<Engine> make_rados_bench_engine(const JobSpec& job, const EngineContext& context) {
  if (!context.connections) throw Error("the rados-bench engine needs a connection to a cluster");
  return std::make_unique<RadosBenchEngine>(job, context);
}

}  // namespace cephmark
