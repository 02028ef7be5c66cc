// rados-bench: objects as `rados bench` names, fills and describes them, through librados: what it
// wrote can be read and checked here, and the other way round (docs/rados-bench.md). An op of the
// job is an op of rados bench: bs= is its size, and its number is its offset over bs.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/units.h"
#include "ceph/bench_record.h"
#include "ceph/object_name.h"
#include "ceph/rados_bench_objects.h"
#include "engine/engines.h"
#include "engine/rados_bench_options.h"
#include "engine/rados_bench_queue.h"
#include "engine/rados_options.h"

namespace cephmark {
namespace {

constexpr int kRecordTries = 100;

class RadosBenchEngine : public Engine {
 public:
  RadosBenchEngine(const JobSpec& job, const EngineContext& context)
      : job_(job),
        context_(context),
        pool_(*context.connections),
        connection_(pool_.connection(context.vm, job)),
        settings_(bench_settings_of(job)) {}

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
    if (job_.rw.writes) info.facts["contents"] = bench_contents_name(settings_.contents);
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
  bool moves_record() const { return job_.engine_option("move_record") == "1"; }

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
    if (!record.empty() && keeps_objects() && !moves_record() && exists(record))
      throw Error(fmt::format("{} is there already: it describes another run, whose objects would "
                              "not be found without it",
                              text_of(record)),
                  fmt::format("another record=, or move_record=1 to keep it under another name, or "
                              "'rados -p {} cleanup --run-name {}'",
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

  // Another run may be writing its own at the same time: each keeps what it finds.
  void write_record() {
    const std::string name = job_.engine_option("record");
    if (name.empty() || !keeps_objects()) return;
    try {
      StoredBenchRecord mine = made_record();
      for (int tries = 0; tries < kRecordTries; ++tries) {
        const auto there = read_bench_record(*io_, name);
        mine.version = there ? there->version : 0;
        if (there && is_of_this_prefix(*there))
          mine.record.ops = std::max(mine.record.ops, there->record.ops);
        else if (there)
          keep_bench_record(*io_, name, *there);
        if (write_bench_record(*io_, name, mine)) return;
      }
      throw Error(fmt::format("the run's record {} is being written by others all the time",
                              text_of(name)));
    } catch (const Error& error) {
      throw Error(error.what(), fmt::format("its objects begin with {}", settings_.prefix));
    }
  }

  StoredBenchRecord made_record() const {
    StoredBenchRecord made;
    made.record.layout = settings_.layout;
    made.record.ops = static_cast<int32_t>(
        std::min<uint64_t>(progress_.written(), std::numeric_limits<int32_t>::max()));
    // What the names say: another process may have given them.
    const auto parts = parse_bench_name(settings_.prefix + "_object0");
    made.record.pid = static_cast<int32_t>(parts ? parts->pid : ::getpid());
    made.prefix = settings_.prefix;
    made.contents = bench_contents_name(settings_.contents);
    made.parts = job_.engine_option("parts");
    return made;
  }
  // With reuse=1 the objects of the run before are written over, as many as this one comes to.
  bool is_of_this_prefix(const StoredBenchRecord& stored) const {
    const StoredBenchRecord mine = made_record();
    return stored.record.layout == mine.record.layout && stored.record.pid == mine.record.pid &&
           (stored.prefix.empty() || stored.prefix == mine.prefix);
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

std::string rados_bench_target_key(const JobSpec& job, const EngineContext& context) {
  const BenchQueueSettings settings = bench_settings_of(job);
  const BenchLayout& layout = settings.layout;
  return fmt::format("rados-bench:{}:{}:{}:{}:{}:{}:{}:{}:{}:{}", context.vm.name, pool_of(job),
                     job.engine_option("namespace"), settings.prefix, layout.object_size_bytes,
                     layout.op_size_bytes, job.rw.name, job.offset.value, job.size.value,
                     job.engine_option("parts"));
}

std::unique_ptr<Engine> make_rados_bench_engine(const JobSpec& job, const EngineContext& context) {
  if (!context.connections) throw Error("the rados-bench engine needs a connection to a cluster");
  return std::make_unique<RadosBenchEngine>(job, context);
}

}  // namespace cephmark
