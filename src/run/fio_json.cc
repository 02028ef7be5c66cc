#include "run/fio_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <regex>

#include "base/error.h"
#include "base/time.h"
#include "run/fio_latency.h"

namespace cephmark {
namespace {

double number(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

uint64_t count(const Json& object, const char* key) {
  return static_cast<uint64_t>(std::max(0.0, number(object, key)));
}

const Json& object_in(const Json& object, const char* key) {
  static const Json empty = Json::object();
  const auto found = object.find(key);
  return found != object.end() && found->is_object() ? *found : empty;
}

Json parse_leniently(const std::string& text, const std::string& what) {
  try {
    return Json::parse(text);
  } catch (const Json::exception&) {
    // printf's "nan" and "inf" (a deviation over no samples) are not JSON.
    static const std::regex not_finite(R"((: )-?(nan|inf)\b)");
    try {
      return Json::parse(std::regex_replace(text, not_finite, "$010.0"));
    } catch (const Json::exception& error) {
      throw Error(fmt::format("{}: fio's report is not valid JSON: {}", what, error.what()));
    }
  }
}

// fio prints shares of the I/Os ("0.1" for everything below); counts are these shares of `total`,
// rounded.
template <size_t kN>
void add_shares(std::array<uint64_t, kN>& counts, const Json& shares,
                const std::array<const char*, kN>& keys, uint64_t total) {
  for (size_t i = 0; i < kN; ++i)
    counts[i] += static_cast<uint64_t>(
        std::llround(number(shares, keys[i]) / 100 * static_cast<double>(total)));
}

void add_depths(DepthCounters& depths, const Json& entry, uint64_t total) {
  constexpr std::array<const char*, 7> kDepths = {"1", "2", "4", "8", "16", "32", ">=64"};
  constexpr std::array<const char*, 7> kBatches = {"0", "4", "8", "16", "32", "64", ">=64"};
  add_shares(depths.depth, object_in(entry, "iodepth_level"), kDepths, total);
  add_shares(depths.submit, object_in(entry, "iodepth_submit"), kBatches, total);
  add_shares(depths.complete, object_in(entry, "iodepth_complete"), kBatches, total);
}

// One entry of "jobs" read into one section.
class EntryReader {
 public:
  EntryReader(const Json& entry, const JobSpec& spec, FioJob& job, FioReading& reading,
              const std::string& what)
      : entry_(entry),
        spec_(spec),
        job_(job),
        reading_(reading),
        what_(fmt::format("{}: job '{}'", what, spec.name)) {}

  void read(const std::vector<ErrorSample>& samples) {
    uint64_t total = add_direction("read", Op::kRead) + add_direction("write", Op::kWrite) +
                     add_direction("trim", Op::kTrim);
    if (entry_.contains("mixed") && !entry_.contains("read")) {
      total += add_direction("mixed", spec_.rw.reads ? Op::kRead : Op::kWrite);
      taint("fio-unified",
            fmt::format("unified_rw_reporting: fio gave one figure for all I/O of '{}'; it stands "
                        "under {}",
                        spec_.name, spec_.rw.reads ? "read" : "write"));
    }
    add_syncs();
    add_depths(job_.result.depths, entry_, total);
    add_cpu();
    job_.result.issued += total;
    add_errors(samples, total);
    const auto started_ns = static_cast<int64_t>(count(entry_, "job_start")) * kNsPerMs;
    if (started_ns > 0 && (job_.start_wall_ns == 0 || started_ns < job_.start_wall_ns))
      job_.start_wall_ns = started_ns;
  }

 private:
  void taint(const std::string& code, const std::string& text) {
    for (const auto& old : reading_.taints)
      if (old.code == code && old.text == text) return;
    reading_.taints.push_back({code, text});
  }

  void add_latency(Histogram& into, const Json& latency, const Json* shape) {
    const FioLatency read = fio_latency(latency, shape, what_);
    if (read.histogram.empty()) return;
    into.merge(read.histogram);
    reading_.exact = reading_.exact && read.exact;
    if (read.beyond_range)
      taint("fio-range",
            fmt::format("I/Os of '{}' took longer than 17.2 s, where fio's histogram ends: its "
                        "percentiles of 17.1 s mean that or more",
                        spec_.name));
  }

  uint64_t add_direction(const char* key, Op kind) {
    const Json& direction = object_in(entry_, key);
    const uint64_t total = count(direction, "total_ios");
    if (total == 0) return 0;
    OpResult& op = job_.result.op(kind);
    op.ios += total;
    op.bytes += count(direction, "io_bytes");
    op.short_ios += count(direction, "short_ios");
    const Json& service = object_in(direction, "clat_ns");
    add_latency(op.service, service, nullptr);
    add_latency(op.response, object_in(direction, "lat_ns"), &service);
    add_latency(op.submit, object_in(direction, "slat_ns"), nullptr);
    const auto runtime_ns = static_cast<int64_t>(count(direction, "runtime")) * kNsPerMs;
    job_.runtime_ns = std::max(job_.runtime_ns, runtime_ns);
    return total;
  }

  void add_syncs() {
    const Json& sync = object_in(entry_, "sync");
    const uint64_t total = count(sync, "total_ios");
    if (total == 0) return;
    OpResult& op = job_.result.op(Op::kFlush);
    op.ios += total;
    add_latency(op.service, object_in(sync, "lat_ns"), nullptr);
    add_latency(op.response, object_in(sync, "lat_ns"), nullptr);
  }

  void add_cpu() {
    const double runtime_ns = number(entry_, "job_runtime") * kNsPerMs;
    CpuUsage& cpu = job_.result.cpu;
    cpu.user_ns += std::llround(number(entry_, "usr_cpu") / 100 * runtime_ns);
    cpu.system_ns += std::llround(number(entry_, "sys_cpu") / 100 * runtime_ns);
    cpu.context_switches += count(entry_, "ctx");
    cpu.major_faults += count(entry_, "majf");
    cpu.minor_faults += count(entry_, "minf");
  }

  Op any_op() const {
    for (Op op : {Op::kWrite, Op::kRead, Op::kTrim})
      if (spec_.has_op(op)) return op;
    return Op::kRead;
  }

  // fio counts a failed I/O as issued. It stops at the first, unless continue_on_error, where it
  // counts them all.
  void add_errors(const std::vector<ErrorSample>& samples, uint64_t total) {
    const int error = static_cast<int>(count(entry_, "error"));
    const uint64_t failed = std::max<uint64_t>(count(entry_, "total_err"), error != 0 ? 1 : 0);
    if (failed == 0) return;
    const int code = error != 0 ? error : static_cast<int>(count(entry_, "first_error"));
    Op kind = any_op();
    bool seen = false;
    for (const auto& sample : samples) {
      if (sample.error != code) continue;
      kind = sample.op;
      seen = true;
      if (job_.result.error_samples.size() < JobResult::kErrorSamples)
        job_.result.error_samples.push_back(sample);
    }
    if (total == 0 && !seen) {
      job_.result.failure = fmt::format("fio could not run it: {}", errno_text(code));
      return;
    }
    OpResult& op = job_.result.op(kind);
    op.errors[code] += failed;
    const uint64_t measured = op.service.count();
    // Failed I/Os have no latency, so where latencies were kept they tell the good ones.
    op.ios = measured > 0 ? std::min(op.ios, measured) : op.ios - std::min(op.ios, failed);
    job_.result.finished = code == 0 || count(entry_, "total_err") > 0;
  }

  const Json& entry_;
  const JobSpec& spec_;
  FioJob& job_;
  FioReading& reading_;
  std::string what_;
};

// Which section an entry belongs to. fio prints one entry per clone in the order of the sections,
// with group_reporting one per group under the name of its first.
int section_of(const std::string& name, const VmPlan& vm, std::vector<int>& entries) {
  int last = -1, free = -1;
  for (size_t i = 0; i < vm.jobs.size(); ++i) {
    const JobSpec& spec = vm.jobs[i];
    const int expected = spec.group_reporting ? 1 : std::max(1, spec.numjobs);
    if (entries[i] < expected && free < 0) free = static_cast<int>(i);
    if (spec.name != name) continue;
    last = static_cast<int>(i);
    if (entries[i] < expected) break;
  }
  const int section = last >= 0 ? last : free;
  if (section >= 0) ++entries[section];
  return section;
}

// Sections without an entry: merged by fio into an earlier one of their group, or not run at all.
void account_for_missing(const VmPlan& vm, const std::vector<int>& entries, FioReading& reading) {
  for (size_t i = 0; i < vm.jobs.size(); ++i) {
    if (entries[i] > 0) continue;
    const JobSpec& spec = vm.jobs[i];
    int host = -1;
    for (size_t k = 0; k < i; ++k)
      if (entries[k] > 0 && vm.jobs[k].group_reporting) host = static_cast<int>(k);
    if (spec.group_reporting && host >= 0)
      reading.taints.push_back(
          {"fio-merged",
           fmt::format("group_reporting: fio melts '{}' into '{}', where its I/O is counted",
                       spec.name, vm.jobs[host].name)});
    else
      reading.jobs[i].result.failure = "fio's report has no entry for it";
  }
}

int errno_of_text(const std::string& text) {
  for (int code = 1; code < 134; ++code)
    if (text == strerrordesc_np(code)) return code;
  return 0;
}

}  // namespace

ErrorSample parse_fio_error_line(const std::string& line) {
  static const std::regex pattern(
      R"(^fio: io_u error on file (.*): ([^:]+): (\w+) offset=(\d+), (?:buflen|xfer_buflen|len)=(\d+))");
  ErrorSample sample;
  std::smatch match;
  if (!std::regex_search(line, match, pattern)) return sample;
  sample.error = errno_of_text(match[2]);
  const std::string op = match[3];
  sample.op = op == "write"  ? Op::kWrite
              : op == "trim" ? Op::kTrim
              : op == "read" ? Op::kRead
                             : Op::kFlush;
  sample.offset = std::strtoull(match[4].str().c_str(), nullptr, 10);
  sample.length = std::strtoull(match[5].str().c_str(), nullptr, 10);
  return sample;
}

FioOutput split_fio_output(const std::string& text, const std::string& what) {
  FioOutput output;
  std::string document, candidate;
  bool inside = false;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    // fio prints its outer braces alone on their lines, at the margin.
    if (!inside && line == "{") {
      inside = true;
      candidate.clear();
    }
    if (inside) {
      candidate += line + "\n";
    } else if (!line.empty()) {
      output.notes.push_back(line);
    }
    if (inside && line == "}") {
      inside = false;
      document = candidate;
    }
  }
  if (inside && document.empty()) throw Error(fmt::format("{}: fio's report is cut off", what));
  if (!document.empty()) output.document = parse_leniently(document, what);
  return output;
}

FioReading read_fio_result(const FioOutput& output, const VmPlan& vm, const std::string& what) {
  FioReading reading;
  reading.jobs.resize(vm.jobs.size());
  for (size_t i = 0; i < vm.jobs.size(); ++i) reading.jobs[i].result.job = static_cast<int>(i);
  const auto jobs = output.document.find("jobs");
  if (!output.document.is_object() || jobs == output.document.end() || !jobs->is_array())
    throw Error(fmt::format("{}: fio's report has no list \"jobs\"", what));
  std::vector<ErrorSample> samples;
  for (const auto& line : output.notes)
    if (const ErrorSample sample = parse_fio_error_line(line); sample.error != 0)
      samples.push_back(sample);

  std::vector<int> entries(vm.jobs.size(), 0);
  for (const auto& entry : *jobs) {
    if (!entry.is_object())
      throw Error(fmt::format("{}: an entry of \"jobs\" is not an object", what));
    const std::string name = entry.value("jobname", std::string());
    // A group that only some of its jobs wanted reported ends with an empty entry without a name.
    if (name.empty() && count(entry, "groupid") > 4'000'000'000.0) continue;
    const int section = section_of(name, vm, entries);
    if (section < 0)
      throw Error(
          fmt::format("{}: fio reports a job '{}' that the plan does not have", what, name));
    EntryReader(entry, vm.jobs[section], reading.jobs[section], reading, what).read(samples);
  }
  account_for_missing(vm, entries, reading);
  reading.printed_wall_ns = static_cast<int64_t>(count(output.document, "timestamp_ms")) * kNsPerMs;
  return reading;
}

}  // namespace cephmark
