#include "job/plan_codec.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <set>
#include <type_traits>

#include "base/error.h"

namespace cephmark {

namespace {

template <typename E>
struct EnumNames;  // specialised below: the words of an enumeration, in its order

template <>
struct EnumNames<SizeSpec::Kind> {
  static constexpr std::string_view words[] = {"unset", "bytes", "percent"};
};
template <>
struct EnumNames<Distribution::Kind> {
  static constexpr std::string_view words[] = {"uniform", "zipf",  "pareto",
                                               "normal",  "zoned", "zoned_abs"};
};
template <>
struct EnumNames<RateProcess> {
  static constexpr std::string_view words[] = {"linear", "poisson"};
};
template <>
struct EnumNames<SyncWrites> {
  static constexpr std::string_view words[] = {"none", "sync", "dsync"};
};
template <>
struct EnumNames<FileService> {
  static constexpr std::string_view words[] = {"roundrobin", "sequential"};
};
template <>
struct EnumNames<RbdCache> {
  static constexpr std::string_view words[] = {"off", "writearound", "writeback", "as-fio", "conf"};
};

// One list of fields per type serves both directions: `archive(key, field)` writes or reads it.

template <typename A>
void fields(A& archive, SizeSpec& size) {
  archive("kind", size.kind);
  archive("value", size.value);
}

template <typename A>
void fields(A& archive, RwMode& rw) {
  archive("name", rw.name);
  archive("reads", rw.reads);
  archive("writes", rw.writes);
  archive("trims", rw.trims);
  archive("random", rw.random);
  archive("trim_then_write", rw.trim_then_write);
  archive("postfix", rw.postfix);
}

template <typename A>
void fields(A& archive, BlockSplit& split) {
  archive("bytes", split.bytes);
  archive("percent", split.percent);
}

template <typename A>
void fields(A& archive, BlockSizes& sizes) {
  archive("min_bytes", sizes.min_bytes);
  archive("max_bytes", sizes.max_bytes);
  archive("splits", sizes.splits);
}

template <typename A>
void fields(A& archive, DistributionZone& zone) {
  archive("access_percent", zone.access_percent);
  archive("size_percent", zone.size_percent);
  archive("size_bytes", zone.size_bytes);
}

template <typename A>
void fields(A& archive, Distribution& distribution) {
  archive("kind", distribution.kind);
  archive("parameter", distribution.parameter);
  archive("center", distribution.center);
  archive("zones", distribution.zones);
}

template <typename A>
void fields(A& archive, JobSpec& job) {
  archive("name", job.name);
  archive("description", job.description);
  archive("source", job.source);
  archive("stage", job.stage);
  archive("group", job.group);
  archive("group_reporting", job.group_reporting);
  archive("numjobs", job.numjobs);
  archive("thread", job.thread);
  archive("ioengine", job.ioengine);
  archive("engine_options", job.engine_options);
  archive("filenames", job.filenames);
  archive("directory", job.directory);
  archive("more_directories", job.more_directories);
  archive("nrfiles", job.nrfiles);
  archive("size", job.size);
  archive("io_size", job.io_size);
  archive("offset", job.offset);
  archive("offset_increment", job.offset_increment);
  archive("filesize", job.filesize);
  archive("file_service_type", job.file_service_type);
  archive("direct", job.direct);
  archive("sync", job.sync);
  archive("invalidate", job.invalidate);
  archive("overwrite", job.overwrite);
  archive("grow_files", job.grow_files);
  archive("rw", job.rw);
  archive("rwmixread", job.rwmixread);
  archive("rw_ratio", job.rw_ratio);
  archive("clones_share", job.clones_share);
  archive("block_sizes", job.block_sizes);
  archive("norandommap", job.norandommap);
  archive("random_distribution", job.random_distribution);
  archive("randrepeat", job.randrepeat);
  archive("randseed", job.randseed);
  archive("iodepth", job.iodepth);
  archive("rate_bytes_per_s", job.rate_bytes_per_s);
  archive("rate_iops", job.rate_iops);
  archive("rate_process", job.rate_process);
  archive("event_rate", job.event_rate);
  archive("fsync", job.fsync);
  archive("fdatasync", job.fdatasync);
  archive("end_fsync", job.end_fsync);
  archive("flush_all", job.flush_all);
  archive("flush_each_write", job.flush_each_write);
  archive("flush_data_only", job.flush_data_only);
  archive("loops", job.loops);
  archive("number_ios", job.number_ios);
  archive("runtime_ns", job.runtime_ns);
  archive("time_based", job.time_based);
  archive("ramp_time_ns", job.ramp_time_ns);
  archive("startdelay_ns", job.startdelay_ns);
  archive("startdelay_max_ns", job.startdelay_max_ns);
  archive("zero_buffers", job.zero_buffers);
  archive("refill_buffers", job.refill_buffers);
  archive("scramble_buffers", job.scramble_buffers);
  archive("buffer_compress_percentage", job.buffer_compress_percentage);
  archive("buffer_compress_chunk", job.buffer_compress_chunk);
  archive("checked_blocks", job.checked_blocks);
  archive("fill_byte", job.fill_byte);
  archive("written_options", job.written_options);
  archive("written_globals", job.written_globals);
}

template <typename A>
void fields(A& archive, CephTarget& ceph) {
  archive("conf", ceph.conf);
  archive("user", ceph.user);
  archive("keyring", ceph.keyring);
  archive("cluster", ceph.cluster);
}

template <typename A>
void fields(A& archive, RunLimits& limits) {
  archive("max_cpus", limits.max_cpus);
  archive("connections", limits.connections);
  archive("open_timeout_ns", limits.open_timeout_ns);
  archive("prepare_timeout_ns", limits.prepare_timeout_ns);
  archive("drain_grace_ns", limits.drain_grace_ns);
  archive("slot_ns", limits.slot_ns);
}

template <typename A>
void fields(A& archive, SafetyGrants& grants) {
  archive("allow_write", grants.allow_write);
  archive("shared_image", grants.shared_image);
  archive("open_read_only", grants.open_read_only);
}

template <typename A>
void fields(A& archive, GuardPolicy& guard) {
  archive("slow_ops", guard.slow_ops);
  archive("inactive_pgs", guard.inactive_pgs);
  archive("nearfull", guard.nearfull);
}

template <typename A>
void fields(A& archive, VmPlan& vm) {
  archive("name", vm.name);
  archive("index", vm.index);
  archive("host", vm.host);
  archive("group", vm.group);
  archive("jobs", vm.jobs);
  archive("job_text", vm.job_text);
}

template <typename A>
void fields(A& archive, Plan& plan) {
  archive("title", plan.title);
  archive("command", plan.command);
  archive("arguments", plan.arguments);
  archive("vms", plan.vms);
  archive("seed", plan.seed);
  archive("ceph", plan.ceph);
  archive("rbd_cache", plan.rbd_cache);
  archive("limits", plan.limits);
  archive("grants", plan.grants);
  archive("guard", plan.guard);
  archive("clones_apart", plan.clones_apart);
  archive("warnings", plan.warnings);
}

class Writer {
 public:
  template <typename T>
  void operator()(const char* key, T& field) {
    Json value = encode(field);
    if (!value.is_null()) out_[key] = std::move(value);
  }
  Json take() { return std::move(out_); }

  template <typename T>
  static Json encode(T& value) {
    if constexpr (std::is_enum_v<T>) {
      return EnumNames<T>::words[static_cast<size_t>(value)];
    } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
      return value;
    } else {
      Writer writer;
      fields(writer, value);
      return writer.take();
    }
  }
  template <typename T>
  static Json encode(std::optional<T>& value) {
    return value ? encode(*value) : Json();
  }
  template <typename T>
  static Json encode(std::vector<T>& list) {
    Json out = Json::array();
    for (T& item : list) out.push_back(encode(item));
    return out;
  }
  template <typename T, size_t N>
  static Json encode(std::array<T, N>& list) {
    Json out = Json::array();
    for (T& item : list) out.push_back(encode(item));
    return out;
  }
  static Json encode(std::map<std::string, std::string>& map) {
    Json out = Json::object();
    for (auto& [key, value] : map) out[key] = value;
    return out;
  }
  static Json encode(std::pair<std::string, std::string>& pair) {
    return Json::array({pair.first, pair.second});
  }

 private:
  Json out_ = Json::object();
};

class Reader {
 public:
  Reader(const Json& in, std::string path) : in_(in), path_(std::move(path)) {
    if (!in.is_object()) fail(path_, "not an object");
  }

  template <typename T>
  void operator()(const char* key, T& field) {
    known_.insert(key);
    const auto found = in_.find(key);
    if (found != in_.end()) decode(*found, path_ + "." + key, field);
  }
  /// After all fields: a key that none of them has would change what runs, and is refused.
  void done() const {
    for (const auto& [key, value] : in_.items())
      if (!known_.contains(key)) fail(path_ + "." + key, "is not a known key");
  }

  [[noreturn]] static void fail(const std::string& path, std::string_view problem) {
    throw Error(fmt::format("{}: {}", path, problem),
                "the file or message is damaged, or no plan at all");
  }

  template <typename T>
  static void decode(const Json& in, const std::string& path, T& value) {
    if constexpr (std::is_enum_v<T>) {
      value = decode_enum<T>(in, path);
    } else if constexpr (std::is_same_v<T, bool>) {
      if (!in.is_boolean()) fail(path, "not true or false");
      value = in.get<bool>();
    } else if constexpr (std::is_floating_point_v<T>) {
      if (!in.is_number()) fail(path, "not a number");
      value = in.get<T>();
    } else if constexpr (std::is_integral_v<T>) {
      value = decode_integer<T>(in, path);
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (!in.is_string()) fail(path, "not a text");
      value = in.get<std::string>();
    } else {
      Reader reader(in, path);
      fields(reader, value);
      reader.done();
    }
  }
  template <typename T>
  static void decode(const Json& in, const std::string& path, std::optional<T>& value) {
    T held{};
    decode(in, path, held);
    value = held;
  }
  template <typename T>
  static void decode(const Json& in, const std::string& path, std::vector<T>& list) {
    if (!in.is_array()) fail(path, "not a list");
    list.assign(in.size(), T());
    for (size_t i = 0; i < in.size(); ++i) decode(in[i], fmt::format("{}[{}]", path, i), list[i]);
  }
  template <typename T, size_t N>
  static void decode(const Json& in, const std::string& path, std::array<T, N>& list) {
    if (!in.is_array() || in.size() != N) fail(path, fmt::format("not a list of {}", N));
    for (size_t i = 0; i < N; ++i) decode(in[i], fmt::format("{}[{}]", path, i), list[i]);
  }
  static void decode(const Json& in, const std::string& path,
                     std::map<std::string, std::string>& map) {
    if (!in.is_object()) fail(path, "not an object");
    map.clear();
    for (const auto& [key, value] : in.items()) decode(value, path + "." + key, map[key]);
  }
  static void decode(const Json& in, const std::string& path,
                     std::pair<std::string, std::string>& pair) {
    if (!in.is_array() || in.size() != 2) fail(path, "not a pair");
    decode(in[0], path + "[0]", pair.first);
    decode(in[1], path + "[1]", pair.second);
  }

 private:
  template <typename T>
  static T decode_enum(const Json& in, const std::string& path) {
    if (!in.is_string()) fail(path, "not a text");
    const auto& word = in.get_ref<const std::string&>();
    for (size_t i = 0; i < std::size(EnumNames<T>::words); ++i)
      if (EnumNames<T>::words[i] == word) return static_cast<T>(i);
    fail(path, fmt::format("\"{}\" is no value of it", word));
  }

  template <typename T>
  static T decode_integer(const Json& in, const std::string& path) {
    if (in.is_number_unsigned()) {
      const auto value = in.get<uint64_t>();
      if (value > static_cast<uint64_t>(std::numeric_limits<T>::max())) fail(path, "out of range");
      return static_cast<T>(value);
    }
    if (!in.is_number_integer()) fail(path, "not a whole number");
    const auto value = in.get<int64_t>();
    if constexpr (std::is_unsigned_v<T>) {
      if (value < 0 || static_cast<uint64_t>(value) > std::numeric_limits<T>::max())
        fail(path, "out of range");
    } else {
      if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max())
        fail(path, "out of range");
    }
    return static_cast<T>(value);
  }

  const Json& in_;
  std::string path_;
  std::set<std::string, std::less<>> known_;
};

/// What no Plan of ours has, but a damaged or hostile one may.
void check_job(const JobSpec& job, const std::string& path) {
  if (job.stage < 0 || job.numjobs < 1 || job.iodepth < 1 || job.loops < 1 || job.nrfiles < 1)
    Reader::fail(path, "stage, numjobs, iodepth, loops or nrfiles below its least value");
  if (job.rwmixread < 0 || job.rwmixread > 100) Reader::fail(path + ".rwmixread", "out of range");
  if ((job.rw_ratio && !(*job.rw_ratio >= 0)) || !(job.event_rate >= 0) || job.flush_all < 0)
    Reader::fail(path, "rw_ratio, event_rate or flush_all out of range");
  if (job.runtime_ns < 0 || job.ramp_time_ns < 0 || job.startdelay_ns < 0 ||
      job.startdelay_max_ns < 0)
    Reader::fail(path, "a time below zero");
  for (const BlockSizes& sizes : job.block_sizes)
    if (sizes.min_bytes < 1 || sizes.max_bytes < sizes.min_bytes)
      Reader::fail(path + ".block_sizes", "out of range");
}

}  // namespace

Json job_to_json(const JobSpec& job) {
  JobSpec copy = job;  // the lists of fields serve both directions and take what they could change
  return Writer::encode(copy);
}

JobSpec job_from_json(const Json& json) {
  JobSpec job;
  Reader::decode(json, "job", job);
  check_job(job, "job");
  return job;
}

Json plan_to_json(const Plan& plan) {
  Plan copy = plan;
  Json out = {{"version", Plan::kSchemaVersion}};
  out.update(Writer::encode(copy));
  return out;
}

Plan plan_from_json(const Json& json) {
  Plan plan;
  Reader reader(json, "plan");
  int version = 0;
  reader("version", version);
  if (version < 1) Reader::fail("plan.version", "missing");
  if (version > Plan::kSchemaVersion)
    throw Error(fmt::format("the plan has version {}; this program reads up to {}", version,
                            Plan::kSchemaVersion),
                "use the program that wrote it, or a newer one");
  fields(reader, plan);
  reader.done();
  for (size_t v = 0; v < plan.vms.size(); ++v)
    for (size_t j = 0; j < plan.vms[v].jobs.size(); ++j)
      check_job(plan.vms[v].jobs[j], fmt::format("plan.vms[{}].jobs[{}]", v, j));
  return plan;
}

}  // namespace cephmark
