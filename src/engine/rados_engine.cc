// rados: objects through librados, one per file of the job (fio's names). Objects are written in
// full before they are read and removed at the end, unless they were there before or
// keep_objects=1. Generated names begin with the run's id: two runs of one job never meet.

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <unordered_map>

#include "base/error.h"
#include "base/rng.h"
#include "base/units.h"
#include "ceph/object_name.h"
#include "engine/engines.h"
#include "engine/file_engine.h"
#include "engine/object_set.h"
#include "engine/rados_options.h"
#include "engine/rados_queue.h"

namespace cephmark {
namespace {

std::string where_of(const JobSpec& job) {
  const std::string space = job.engine_option("namespace");
  return space.empty() ? pool_of(job) : pool_of(job) + "/" + space;
}

// What each object must be as long as: the job's share of size, or filesize, behind its offset.
uint64_t object_bytes(const JobSpec& job, int clone, unsigned files) {
  for (const auto* size : {&job.size, &job.filesize, &job.offset, &job.offset_increment})
    if (size->kind == SizeSpec::Kind::kPercent)
      throw UsageError(fmt::format("job {} ({}): sizes in per cent have no meaning for objects",
                                   job.name, job.source),
                       "size= and offset= in bytes");
  const uint64_t share =
      job.filesize.is_set() ? job.filesize.value : job.size.value / std::max(1u, files);
  if (share == 0)
    throw UsageError(
        fmt::format("job {} ({}) does not say how large its objects are", job.name, job.source),
        "size= (of all objects together, divided by nrfiles) or filesize= (of each)");
  return job.offset.value + clone * job.offset_increment.value + share;
}

std::vector<std::string> names_of(const JobSpec& job, const EngineContext& context) {
  return rados_object_names(job, context.plan, context.vm, context.run_id);
}

bool allowed(const SafetyGrants& grants, const std::string& target) {
  return std::any_of(grants.allow_write.begin(), grants.allow_write.end(),
                     [&](const std::string& pattern) {
                       return ::fnmatch(pattern.c_str(), target.c_str(), 0) == 0;
                     });
}

class RadosEngine : public Engine {
 public:
  RadosEngine(const JobSpec& job, const EngineContext& context)
      : job_(job),
        context_(context),
        pool_(*context.connections),
        connection_(pool_.connection(context.vm, job)),
        names_(names_of(job, context)),
        files_(FileTarget::files_per_clone(job)) {}

  TargetInfo open() override {
    Cluster& cluster = connection_.cluster();
    io_ = std::make_shared<IoContext>(cluster.io(pool_of(job_), job_.engine_option("namespace")));
    objects_ = std::make_unique<ObjectSet>(io_, pool_, where_of(job_), wanted_objects());
    check_object_size(cluster);
    check_alignment();
    objects_->look(context_.plan.limits.open_timeout_ns);
    check_permitted();
    check_nothing_is_appended_to();

    TargetInfo info;
    info.name = fmt::format("{}/{}", where_of(job_), names_.front());
    if (names_.size() > 1) info.name += fmt::format(" and {} more", names_.size() - 1);
    info.files = files_;
    std::vector<uint64_t> sizes;
    for (const size_t place : place_of_name_)
      sizes.push_back(objects_->objects()[place].size_bytes);
    set_clone_sizes(sizes, info);
    info.block_size_bytes = std::max<uint64_t>(1, alignment_);
    info.facts["user"] = cluster.args().user;
    info.facts["objects"] =
        fmt::format("{} of {}", names_.size(), format_size(info.size_bytes / files_));
    if (alignment_ > 1) info.facts["alignment"] = format_size(alignment_);
    return info;
  }

  void prepare(bool, int64_t timeout_ns) override {
    std::vector<std::string> created;
    for (const auto& object : objects_->objects())
      if (!object.existed) created.push_back(text_of(object));
    if (!created.empty() && context_.about_to_create_objects && !keeps_objects())
      (*context_.about_to_create_objects)(created);
    may_remove_ = true;
    if (job_.rw.reads)
      objects_->write_in_full(alignment_, Rng::derive(context_.plan.seed, context_.vm.index),
                              timeout_ns);
  }

  std::unique_ptr<IoQueue> make_queue(const QueueSetup& setup) override {
    const auto first = names_.begin() + ptrdiff_t{setup.clone} * files_;
    return std::make_unique<RadosQueue>(io_->get(), pool_, setup,
                                        std::vector<std::string>(first, first + files_));
  }

  void close() override {
    if (!objects_ || objects_->stuck()) return;
    if (may_remove_ && !keeps_objects())
      objects_->remove_created(context_.plan.limits.open_timeout_ns);
    objects_.reset();
    io_.reset();
  }

 private:
  std::string text_of(const ObjectState& object) const {
    return ObjectName{pool_of(job_), job_.engine_option("namespace"), object.name}.text();
  }
  bool keeps_objects() const { return job_.engine_option("keep_objects") == "1"; }

  std::vector<ObjectState> wanted_objects() {
    std::vector<ObjectState> objects;
    std::unordered_map<std::string_view, size_t> places;
    for (size_t i = 0; i < names_.size(); ++i) {
      const uint64_t size = object_bytes(job_, static_cast<int>(i / files_), files_);
      const auto [place, fresh] = places.emplace(names_[i], objects.size());
      if (fresh) objects.push_back({.name = names_[i]});
      ObjectState& object = objects[place->second];  // filename=: the clones share them
      object.size_bytes = std::max(object.size_bytes, size);
      place_of_name_.push_back(place->second);
    }
    return objects;
  }

  void check_object_size(Cluster& cluster) const {
    const uint64_t limit = max_object_bytes(cluster);
    for (const auto& object : objects_->objects())
      if (limit && object.size_bytes > limit)
        throw Error(fmt::format("object {}/{} would be {}, the cluster takes objects up to {} "
                                "(osd_max_object_size)",
                                where_of(job_), object.name, format_size(object.size_bytes),
                                format_size(limit)),
                    "more objects of a smaller size: nrfiles=N divides size");
  }

  void check_alignment() {
    alignment_ = append_alignment(*io_);
    if (alignment_ == 0 || !(job_.rw.writes || job_.rw.trims)) return;
    const std::string pool = fmt::format(
        "job {} ({}): pool {} is erasure coded without overwrites: its objects can "
        "only be appended to, once, in multiples of {}",
        job_.name, job_.source, pool_of(job_), format_size(alignment_));
    const std::string overwrites =
        fmt::format("'ceph osd pool set {} allow_ec_overwrites true'", pool_of(job_));
    if (const char* way = overwriting(); way)
      throw Error(
          fmt::format("{}; this one has {}", pool, way),
          "rw=write, once from the start of objects that are not there yet, or " + overwrites);
    for (const uint64_t bytes : write_sizes())
      if (bytes % alignment_)
        throw Error(fmt::format("{}; it writes {} bytes at a time", pool, bytes),
                    fmt::format("bs={} or a multiple of it, or {}", alignment_, overwrites));
  }

  // Only after look(): what is there can be neither written over nor begun anew.
  void check_nothing_is_appended_to() const {
    if (alignment_ == 0 || !job_.rw.writes) return;
    for (const auto& object : objects_->objects())
      if (object.existed)
        throw Error(fmt::format("job {} ({}): object {} is there already, and pool {} is erasure "
                                "coded without overwrites",
                                job_.name, job_.source, text_of(object), pool_of(job_)),
                    "'rados rm' it first, or another filename= or object_names=run");
  }

  // What of the job does more than append to new objects; null: nothing.
  const char* overwriting() const {
    const uint64_t moved = job_.io_size.kind == SizeSpec::Kind::kBytes ? job_.io_size.value : 0;
    if (job_.rw.trims) return "trims";
    if (job_.rw.reads) return "reads of what it has not written yet";
    if (job_.rw.random) return "random offsets";
    if (job_.rw.postfix != 0) return "holes between its writes";
    if (job_.loops > 1) return "loops";
    if (job_.time_based) return "time_based";
    if (job_.offset.value || job_.offset_increment.value) return "an offset";
    if (moved > job_.size.value && !job_.filesize.is_set()) return "an io_size above its size";
    if (objects_->objects().size() < names_.size()) return "clones that share objects";
    return nullptr;
  }

  std::vector<uint64_t> write_sizes() const {
    const BlockSizes& blocks = job_.block_sizes[op_index(Op::kWrite)];
    if (blocks.splits.empty()) return {blocks.min_bytes};  // of a range: multiples of the least
    std::vector<uint64_t> sizes;
    for (const BlockSplit& split : blocks.splits) sizes.push_back(split.bytes);
    return sizes;
  }

  // Design, safety: nothing is overwritten that is not ours, unless it is named.
  void check_permitted() const {
    for (const auto& object : objects_->objects()) {
      if (!object.existed) continue;
      const std::string target = text_of(object);
      const bool too_short = job_.rw.reads && object.found_bytes < object.size_bytes;
      if (!(job_.rw.writes || job_.rw.trims || too_short) || allowed(context_.plan.grants, target))
        continue;
      if (too_short && !job_.rw.writes)
        throw Error(
            fmt::format("object {} has {}, job {} reads {} of it", target,
                        format_size(object.found_bytes), job_.name, format_size(object.size_bytes)),
            "a smaller size=, or --allow-write " + target + " to have it written in full first");
      throw Error(
          fmt::format("object {} was there before and is not ours: job {} ({}) would overwrite it",
                      target, job_.name, job_.source),
          "another filename= or object_names=run, or --allow-write " + target);
    }
  }

  const JobSpec job_;
  const EngineContext context_;
  ConnectionPool& pool_;
  Connection& connection_;
  std::vector<std::string> names_;     ///< clone by clone
  std::vector<size_t> place_of_name_;  ///< in objects_
  unsigned files_;
  uint64_t alignment_ = 0;   ///< bytes; 0: any
  bool may_remove_ = false;  ///< only after the manifest knows of the objects may they be ours
  std::shared_ptr<IoContext> io_;
  std::unique_ptr<ObjectSet> objects_;
};

}  // namespace

std::span<const EngineOption> rados_options() {
  using Kind = EngineOption::Kind;
  static const std::vector<EngineOption> options = {
      {.name = "pool", .default_value = "rbd", .help = "pool of the objects"},
      {.name = "namespace", .help = "namespace of the objects (ours, not fio's)"},
      {.name = "clientname", .help = "user to connect as, with or without client."},
      {.name = "clustername", .help = "name of the cluster: which conf is read"},
      {.name = "conf",
       .help = "configuration file of the cluster; CEPH_CONF and the default places without it"},
      {.name = "busy_poll",
       .kind = Kind::kBool,
       .default_value = "0",
       .help = "accepted for compatibility; completions are never polled for"},
      {.name = "touch_objects",
       .kind = Kind::kBool,
       .default_value = "1",
       .help = "accepted for compatibility; objects are written in full before reads, and never "
               "touched empty"},
      {.name = "object_names",
       .kind = Kind::kChoice,
       .default_value = "run",
       .choices = {"run", "vm", "fio"},
       .help = "names of objects without filename=: run: RUN.VM.JOB.N.M, never there before; vm: "
               "VM.JOB.N.M, found again by the next run; fio: JOB.N.M, as fio's engine names them "
               "(ours, not fio's)"},
      {.name = "keep_objects",
       .kind = Kind::kBool,
       .default_value = "0",
       .help = "1: objects that the job made stay (ours, not fio's)"},
  };
  return options;
}

bool rados_names_are_fresh(const JobSpec& job, const Plan& plan, const std::string& run_id) {
  const std::string style = job.engine_option("object_names");
  return job.filenames.empty() && plan.command == "run" && !run_id.empty() &&
         (style.empty() || style == "run");
}

std::vector<std::string> rados_object_names(const JobSpec& job, const Plan& plan, const VmPlan& vm,
                                            const std::string& run_id) {
  std::vector<std::string> names = FileTarget::paths(job);
  if (!job.filenames.empty() || job.engine_option("object_names") == "fio") return names;
  std::string prefix;
  if (plan.vms.size() > 1 || plan.command == "run") prefix = vm.name + ".";
  if (rados_names_are_fresh(job, plan, run_id)) prefix = run_id + "." + prefix;
  for (std::string& name : names) name = prefix + name;
  return names;
}

std::string rados_target_key(const JobSpec& job, const EngineContext& context) {
  std::string key =
      fmt::format("rados:{}:{}:{}{}{}", context.vm.name, where_of(job), job.rw.reads ? "r" : "",
                  job.rw.writes ? "w" : "", job.rw.trims ? "t" : "");
  for (const auto& name : names_of(job, context)) key += ":" + name;
  return key + fmt::format(":{}:{}:{}", job.size.value, job.filesize.value, job.offset.value);
}

std::unique_ptr<Engine> make_rados_engine(const JobSpec& job, const EngineContext& context) {
  if (!context.connections) throw Error("the rados engine needs a connection to a cluster");
  return std::make_unique<RadosEngine>(job, context);
}

}  // namespace cephmark
