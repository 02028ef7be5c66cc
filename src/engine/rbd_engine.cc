// rbd: an RBD image through librbd. One open image is shared by all jobs of a VM on it.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/time.h"
#include "base/units.h"
#include "ceph/disk.h"
#include "engine/engines.h"
#include "engine/rbd_queue.h"

namespace cephmark {
namespace {

constexpr int64_t kFlushLimit_ns = 30'000'000'000;

ImageSpec spec_of(const JobSpec& job) {
  const std::string pool = job.engine_option("pool"), name = job.engine_option("rbdname");
  if (name.empty())
    throw UsageError(fmt::format("job {} ({}) names no image", job.name, job.source),
                     "rbdname=IMAGE");
  return parse_image_spec(name, pool.empty() ? "rbd" : pool, job.engine_option("rbdnamespace"));
}

// As fio: direct=1 turns the cache off, direct=0 leaves it as configured (Ceph's default is on) and
// flushes once.
RbdCache cache_of(const Plan& plan, const JobSpec& job) {
  if (plan.rbd_cache != RbdCache::kAsFio) return plan.rbd_cache;
  return job.direct ? RbdCache::kOff : RbdCache::kConf;
}

bool changes_data(const JobSpec& job) {
  return job.rw.writes || job.rw.trims;
}

class RbdEngine : public Engine {
 public:
  RbdEngine(const JobSpec& job, const EngineContext& context)
      : job_(job),
        plan_(context.plan),
        pool_(*context.connections),
        connection_(pool_.connection(context.vm, job)) {
    const std::string key = rbd_target_key(job, context);
    for (const auto& other : context.vm.jobs)
      if (other.ioengine == "rbd" && rbd_target_key(other, context) == key)
        will_write_ = will_write_ || changes_data(other);
    will_write_ = will_write_ || changes_data(job);
  }

  TargetInfo open() override {
    DiskSetup setup;
    setup.spec = spec_of(job_);
    setup.read_only = plan_.grants.open_read_only;
    setup.will_write = will_write_;
    setup.cache = cache_of(plan_, job_);
    setup.timeout_ns = plan_.limits.open_timeout_ns;
    if (will_write_ && !setup.spec.snapshot.empty())
      throw UsageError(
          fmt::format("job {} ({}) writes to the snapshot {}", job_.name, job_.source,
                      setup.spec.text()),
          "snapshots can only be read; name the image without @" + setup.spec.snapshot);
    if (will_write_ && setup.read_only)
      throw UsageError(fmt::format("job {} ({}) writes to {}, which is to be opened read-only",
                                   job_.name, job_.source, setup.spec.text()),
                       "leave --open-read-only out");
    disk_ = Disk::open(connection_, pool_, setup);
    try {
      return describe(setup.cache);
    } catch (...) {
      close_quietly();
      throw;
    }
  }

  void prepare(bool will_write, int64_t timeout_ns) override {
    if (will_write) disk_->acquire_lock(timeout_ns);
  }

  void drop_caches(int64_t timeout_ns) override {
    if (!cache_on_) return;
    if (will_write_ && !disk_->read_only()) disk_->flush(timeout_ns);
    disk_->invalidate_cache(timeout_ns);
  }

  std::unique_ptr<IoQueue> make_queue(const QueueSetup& setup) override {
    return std::make_unique<RbdQueue>(disk_->image(), pool_, setup);
  }

  int64_t settle(int64_t timeout_ns) override {
    if (!cache_on_ || !will_write_ || disk_->read_only()) return -1;
    const int64_t start_ns = monotonic_ns();
    disk_->flush(timeout_ns);
    return monotonic_ns() - start_ns;
  }

  void close() override {
    if (disk_) disk_->close();  // null: the open failed
  }

 private:
  TargetInfo describe(RbdCache wanted) {
    TargetInfo info;
    info.name = disk_->name();
    info.size_bytes = disk_->size_bytes();
    check_size(info.size_bytes);
    const auto options = disk_->options();
    describe_cache(wanted, options, info);
    info.facts["open"] = disk_->read_only()
                             ? fmt::format("read-only ({})", disk_->read_only_reason())
                             : "read-write, without taking the lock";
    if (disk_->read_only() && disk_->read_only_reason() != "a snapshot")
      info.warnings.push_back(
          fmt::format("{} is open read-only ({}): changes of its QoS limits are not seen",
                      info.name, disk_->read_only_reason()));
    info.facts["user"] = connection_.cluster().args().user;
    info.facts["image id"] = disk_->id();
    info.facts["object size"] = format_size(disk_->object_size_bytes());
    if (const std::string parent = disk_->parent(); !parent.empty()) info.facts["parent"] = parent;
    if (const auto scheduler = options.find("rbd_io_scheduler"); scheduler != options.end())
      info.facts["io scheduler"] = scheduler->second.value;
    if (const std::string qos = qos_text(options); !qos.empty()) info.facts["qos"] = qos;
    if (plan_.grants.shared_image && will_write_ && other_vm_writes())
      info.warnings.push_back(
          fmt::format("{} is written by several VMs, each of which has opened it: they hand its "
                      "exclusive lock to each other, and wait for that",
                      info.name));
    return info;
  }

  /// The jobs of one VM share one open image; those of two VMs do not.
  bool other_vm_writes() const {
    int vms = 0;
    for (const VmPlan& vm : plan_.vms)
      vms += std::any_of(vm.jobs.begin(), vm.jobs.end(), [&](const JobSpec& job) {
        return job.ioengine == "rbd" && changes_data(job) && spec_of(job) == spec_of(job_);
      });
    return vms > 1;
  }

  void check_size(uint64_t size_bytes) const {
    const auto bytes = [](const SizeSpec& size) {
      return size.kind == SizeSpec::Kind::kBytes ? size.value : 0;
    };
    const uint64_t clones = std::max(1, job_.numjobs) - 1;
    const uint64_t needed =
        bytes(job_.offset) + clones * bytes(job_.offset_increment) + bytes(job_.size);
    if (size_bytes == 0 || needed > size_bytes)
      throw Error(fmt::format("image {} has size {}, job {} needs {}", disk_->name(),
                              size_bytes ? format_size(size_bytes) : "0", job_.name,
                              needed ? format_size(needed) : "more"),
                  "rbd resize, or another size= and offset=");
  }

  void describe_cache(RbdCache wanted, const std::map<std::string, ConfigValue>& options,
                      TargetInfo& info) {
    const bool on = cache_on_ = cache_is_on(options);
    const auto found = options.find("rbd_cache");
    const ConfigSource source =
        found == options.end() ? ConfigSource::kConfig : found->second.source;
    const bool ours = source == ConfigSource::kConfig && wanted != RbdCache::kConf;
    const std::string origin =
        ours ? "set by cephmark" : fmt::format("set in {}", config_source_name(source));
    if (wanted == RbdCache::kOff && on) {
      const std::string text =
          fmt::format("the cache of {} is on: rbd_cache is set on {}, which overrides ours",
                      info.name, config_source_name(source));
      if (plan_.rbd_cache != RbdCache::kAsFio)
        throw Error(
            text,
            source == ConfigSource::kImage
                ? fmt::format(
                      "'rbd config image rm {} rbd_cache', or accept it with --rbd-cache conf",
                      info.name)
                : fmt::format(
                      "'rbd config pool rm {} rbd_cache', or accept it with --rbd-cache conf",
                      spec_of(job_).pool));
      info.warnings.push_back(text);
    }
    if ((wanted == RbdCache::kWriteBack || wanted == RbdCache::kWriteAround) && !on)
      info.warnings.push_back(
          fmt::format("the cache of {} is off although it was asked for: {}", info.name, origin));
    const bool flush = on && !disk_->read_only();
    if (flush)
      disk_->flush(
          kFlushLimit_ns);  // lifts write-through-until-flush, as a VM's file system does at once
    info.facts["cache"] = fmt::format("{}; {}{}", cache_text(options), origin,
                                      flush ? "; flushed once after the open" : "");
  }

  void close_quietly() noexcept {
    try {
      disk_->close();
    } catch (const std::exception&) {  // the first error is the one to tell
    }
  }

  const JobSpec job_;
  const Plan& plan_;
  ConnectionPool& pool_;
  Connection& connection_;
  bool will_write_ = false;
  bool cache_on_ = false;
  std::unique_ptr<Disk> disk_;
};

}  // namespace

std::span<const EngineOption> rbd_options() {
  using Kind = EngineOption::Kind;
  static const std::vector<EngineOption> options = {
      {.name = "pool", .default_value = "rbd", .help = "pool of the image"},
      {.name = "rbdname",
       .required = true,
       .help = "image: NAME, POOL/NAME or POOL/NAMESPACE/NAME, with @SNAP a snapshot"},
      {.name = "rbdnamespace", .help = "namespace of the pool (ours, not fio's)"},
      {.name = "clientname", .help = "user to connect as, with or without client."},
      {.name = "clustername", .help = "name of the cluster: which conf is read"},
      {.name = "conf", .help = "configuration file of the cluster (ours, not fio's)"},
      {.name = "busy_poll",
       .kind = Kind::kBool,
       .default_value = "0",
       .help = "accepted for compatibility; completions are never polled for"},
  };
  return options;
}

std::string rbd_target_key(const JobSpec& job, const EngineContext& context) {
  const bool configured = cache_of(context.plan, job) != context.plan.rbd_cache && !job.direct;
  return fmt::format("rbd:{}:{}{}", context.vm.name, spec_of(job).text(),
                     configured ? ":cached" : "");
}

std::unique_ptr<Engine> make_rbd_engine(const JobSpec& job, const EngineContext& context) {
  if (!context.connections) throw Error("the rbd engine needs a connection to a cluster");
  return std::make_unique<RbdEngine>(job, context);
}

}  // namespace cephmark
