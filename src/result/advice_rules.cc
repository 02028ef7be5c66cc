#include "result/advice_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/spelling.h"
#include "base/time.h"
#include "base/units.h"
#include "result/witness.h"

namespace cephmark {
namespace {

constexpr double kBusyCpuShare = 0.8;
constexpr double kLateShare = 0.01;
constexpr double kReachedDepthShare = 0.9;
constexpr int64_t kShortRun_ns = 10 * kNsPerSecond;
/// Faster than a message over the loopback interface and back: no network took part.
constexpr int64_t kLoopback_ns = 15'000;
/// Faster than a page out of the page cache can be told apart from a device: a local device needs
/// more than this.
constexpr int64_t kPageCache_ns = 5'000;

using Names = std::set<std::string, NaturalLess>;

std::string percent(double share) {
  return fmt::format("{:.0f} %", share * 100);
}

/// "a", "a and b", "a, b and 7 more".
std::string some_of(const Names& names) {
  std::string text;
  size_t shown = 0;
  for (const auto& name : names) {
    if (shown == 3) return text + fmt::format(" and {} more", names.size() - shown);
    text += (shown == 0 ? "" : shown + 1 == names.size() ? " and " : ", ") + name;
    ++shown;
  }
  return text;
}

std::string joined(const std::vector<std::string>& texts) {
  constexpr size_t kShown = 4;
  std::string all;
  for (size_t i = 0; i < std::min(kShown, texts.size()); ++i) all += (i ? "; " : "") + texts[i];
  if (texts.size() > kShown) all += fmt::format("; and {} more", texts.size() - kShown);
  return all;
}

bool is_rbd(const JobSpec& job) {
  return job.ioengine == "rbd";
}
bool is_ceph(const JobSpec& job) {
  return is_rbd(job) || job.ioengine == "rados" || job.ioengine == "rados-bench" ||
         job.ioengine == "cephfs";
}
bool is_local(const JobSpec& job) {
  return !is_ceph(job) && job.ioengine != "null";
}

bool starts_with_guard(const RunResult& result) {
  return result.stop_reason.rfind("guard", 0) == 0;
}

}  // namespace

std::string interrupted_rule(const RunResult& result, const RunFigures& figures) {
  if (result.stop_reason.empty() || starts_with_guard(result)) return "";
  int unfinished = 0;
  for (const auto& job : figures.jobs) unfinished += !job.result->finished;
  return fmt::format("the run was stopped before its end: {}; {} of {} jobs had not finished",
                     result.stop_reason, unfinished, figures.jobs.size());
}

std::string guard_rule(const RunResult& result, const RunFigures&) {
  if (!starts_with_guard(result)) return "";
  return fmt::format(
      "the load was taken off the cluster early ({}); only what came before is counted",
      result.stop_reason);
}

std::string errors_rule(const RunResult&, const RunFigures& figures) {
  if (figures.errors == 0) return "";
  const uint64_t all = figures.errors + figures.data_ios + figures.flushes;
  std::map<std::string, uint64_t> codes;
  for (const auto& job : figures.jobs)
    for (const auto& op : job.result->ops)
      if (op)
        for (const auto& [code, count] : op->errors) codes[errno_name(code)] += count;
  std::string text;
  for (const auto& [name, count] : codes)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, format_count(count));
  return fmt::format(
      "{} of {} I/Os failed ({}); they are in no rate and no latency, and a failing I/O is "
      "often a fast one",
      format_count(figures.errors), format_count(all), text);
}

std::string unwritten_rule(const RunResult& result, const RunFigures& figures) {
  std::set<int> readers;
  for (const auto& job : figures.jobs)
    if (job.spec->rw.reads) readers.insert(job.vm);
  uint64_t size = 0, written = 0;
  bool partly = false, images = false;
  Names names;
  for (const auto& vm : result.vms) {
    if (!readers.count(vm.vm)) continue;
    for (const auto& target : vm.targets) {
      const uint64_t whole = target.region_bytes ? target.region_bytes : target.size_bytes;
      if (!target.allocated_bytes || whole == 0) continue;
      // Object granularity and a last partial object: a whole image may look a little less than
      // whole.
      if (static_cast<double>(*target.allocated_bytes) >= 0.99 * static_cast<double>(whole))
        continue;
      partly |= target.region_bytes != 0;
      images |= target.facts.count("image id") > 0;
      if (!names.insert(target.name).second) continue;
      size += whole;
      written += std::min(*target.allocated_bytes, whole);
    }
  }
  if (names.empty()) return "";
  return fmt::format(
      "{} of {}{} {} unallocated: reads there come back as zeroes without any disk; {}",
      percent(1 - static_cast<double>(written) / static_cast<double>(size)),
      partly ? "what is read of " : "", some_of(names), partly || names.size() == 1 ? "is" : "are",
      images ? "write it first (--prefill)" : "write it first (rw=write)");
}

std::string cache_rule(const RunResult& result, const RunFigures& figures) {
  Names values, names, flushes;
  std::set<int> vms;
  for (const auto& job : figures.jobs)
    if (is_rbd(*job.spec)) vms.insert(job.vm);
  for (const auto& vm : result.vms) {
    if (!vms.count(vm.vm)) continue;
    for (const auto& target : vm.targets) {
      const auto it = target.facts.find("cache");
      if (it == target.facts.end() || it->second.empty() || it->second.rfind("off", 0) == 0)
        continue;
      values.insert(it->second);
      names.insert(target.name);
      if (const auto flush = target.facts.find("end flush"); flush != target.facts.end())
        flushes.insert(flush->second);
    }
  }
  if (names.empty()) return "";
  return fmt::format(
      "librbd's cache was on for {} ({}): writes may have been acknowledged by this machine's "
      "memory and reads served from it{}",
      some_of(names), some_of(values),
      flushes.empty() ? ""
                      : fmt::format("; to write out what it still held at the end took {}, which "
                                    "is in no rate",
                                    some_of(flushes)));
}

std::string buffered_rule(const RunResult&, const RunFigures& figures) {
  Names names;
  for (const auto& job : figures.jobs)
    if (is_local(*job.spec) && !job.spec->direct) names.insert(job.spec->name);
  if (names.empty()) return "";
  return fmt::format("{} ran without direct=1: this machine's page cache took part in every number",
                     some_of(names));
}

std::string memory_rule(const RunResult&, const RunFigures& figures) {
  Names names;
  int64_t fastest_ns = INT64_MAX;
  for (const auto& job : figures.jobs) {
    const OpResult* reads = job.result->find(Op::kRead);
    if (!reads || reads->service.empty() || job.spec->ioengine == "null") continue;
    const int64_t median_ns = reads->service.quantile_ns(0.5);
    // Per 4 KiB: a big read out of memory takes its time as well.
    const int64_t pages = std::max<int64_t>(
        1, static_cast<int64_t>(reads->bytes / std::max<uint64_t>(1, reads->ios) / 4096));
    const int64_t limit_ns = is_ceph(*job.spec) ? kLoopback_ns : kPageCache_ns + (pages - 1) * 500;
    if (median_ns >= limit_ns) continue;
    names.insert(job.spec->name);
    fastest_ns = std::min(fastest_ns, median_ns);
  }
  if (names.empty()) return "";
  return fmt::format(
      "half of the reads of {} took {} or less, faster than {} could answer: they came out of "
      "memory (or were never written)",
      some_of(names), format_duration(fastest_ns), "any disk or network");
}

std::string working_set_rule(const RunResult& result, const RunFigures& figures) {
  const uint64_t memory = result.environment.osd_memory_bytes;
  if (memory == 0) return "";
  std::set<int> readers;
  for (const auto& job : figures.jobs)
    if (job.spec->rw.reads && is_ceph(*job.spec)) readers.insert(job.vm);
  Names names;
  uint64_t bytes = 0;
  for (const auto& vm : result.vms)
    if (readers.count(vm.vm))
      for (const auto& target : vm.targets)
        if (names.insert(target.name).second) bytes += target.size_bytes;
  if (names.empty() || bytes == 0 || bytes / 2 >= memory) return "";
  return fmt::format(
      "all that was read ({}) is less than twice the memory of the OSDs ({}): many reads came "
      "from their caches, not from disks",
      format_size(bytes), format_size(memory));
}

// The pool's own setting, as cluster_facts tells it; `passive` compresses only what is hinted to be
// compressible, and such writes are not.
std::string compressed_rule(const RunResult& result, const RunFigures& figures) {
  Names pools;
  for (const auto& job : figures.jobs) {
    if (job.spec->ioengine != "rados-bench" || !job.spec->rw.writes) continue;
    if (job.spec->engine_option("contents") == "random") continue;
    const std::string pool = job.spec->engine_option("pool");
    const auto fact = result.environment.cluster.find("pool " + pool);
    if (fact == result.environment.cluster.end()) continue;
    for (const char* mode : {"compression aggressive", "compression force"})
      if (fact->second.find(mode) != std::string::npos) pools.insert(pool);
  }
  if (pools.empty()) return "";
  return fmt::format(
      "pool {} compresses, and what was written is one letter over and over: this is the speed of "
      "writing almost nothing (--payload random, contents=random)",
      some_of(pools));
}

std::string counters_rule(const RunResult& result, const RunFigures& figures) {
  const WitnessFigures witness = witness_figures(result, figures);
  std::string text;
  const auto judge = [&](const WitnessSide& side, const char* did, const char* counted) {
    if (side.byte_ratio <= kCounterRatio) return;
    text += fmt::format("{}we {} {}, the OSDs {} {}{}", text.empty() ? "" : "; ", did,
                        format_size(side.client_bytes), counted, format_size(side.osd_bytes),
                        side.osd_bytes > 0 ? fmt::format(" (ratio {:.2f})", side.byte_ratio) : "");
  };
  judge(witness.reads, "read", "sent");
  judge(witness.writes, "wrote", "took");
  if (text.empty()) return "";
  return text +
         ": what is missing was answered by a cache, was never written, or never left this machine";
}

std::string background_rule(const RunResult& result, const RunFigures&) {
  if (result.witness.background_work.empty()) return "";
  return fmt::format("the cluster did other work in the measured time: {}",
                     joined(result.witness.background_work));
}

std::string health_rule(const RunResult& result, const RunFigures&) {
  if (result.witness.health_changes.empty()) return "";
  return fmt::format("the cluster's health changed in the measured time: {}",
                     joined(result.witness.health_changes));
}

std::string cpu_rule(const RunResult& result, const RunFigures& figures) {
  if (figures.cpu_share <= kBusyCpuShare) return "";
  return fmt::format(
      "this program used {} of the {} CPU{} it may use: the client, not the storage, may have set "
      "the pace; give it more CPUs or more hosts",
      percent(figures.cpu_share), result.allowed_cpus, result.allowed_cpus == 1 ? "" : "s");
}

std::string late_rule(const RunResult&, const RunFigures& figures) {
  const uint64_t all = figures.data_ios + figures.errors;
  if (all == 0 || static_cast<double>(figures.late) <= kLateShare * static_cast<double>(all))
    return "";
  return fmt::format(
      "{} of {} I/Os were issued more than 1 ms after they were due: the rate asked for was not "
      "kept; response times include the wait, service times do not",
      format_count(figures.late), format_count(all));
}

std::string synchronous_rule(const RunResult&, const RunFigures& figures) {
  Names names;
  for (const auto& job : figures.jobs)
    if (job.spec->iodepth > 1 && is_synchronous(*job.spec))
      names.insert(fmt::format("{} (iodepth={}, ioengine={})", job.spec->name, job.spec->iodepth,
                               job.spec->ioengine));
  if (names.empty()) return "";
  return fmt::format(
      "{}: this engine keeps one I/O in flight, whatever iodepth says; use io_uring, libaio or rbd",
      some_of(names));
}

std::string depth_rule(const RunResult&, const RunFigures& figures) {
  double achieved = 0;
  uint64_t requested = 0;
  Names names;
  for (const auto& job : figures.jobs) {
    bool has_rate = job.spec->startdelay_ns > 0 || job.spec->startdelay_max_ns > 0;
    for (int i = 0; i < kDirectionCount; ++i)
      has_rate = has_rate || job.spec->rate_iops[i] > 0 || job.spec->rate_bytes_per_s[i] > 0;
    // With a rate the depth is what the storage makes of it; a synchronous engine has its own
    // warning.
    if (job.window_ns <= 0 || job.requested_depth <= 1 || has_rate || is_synchronous(*job.spec))
      continue;
    if (job.achieved_depth >= kReachedDepthShare * static_cast<double>(job.requested_depth))
      continue;
    achieved += job.achieved_depth;
    requested += job.requested_depth;
    names.insert(job.spec->name);
  }
  if (names.empty()) return "";
  return fmt::format(
      "{}: {:.1f} I/Os were in flight on average where {} were asked for: this program or the "
      "engine could not keep the queue full",
      some_of(names), achieved, requested);
}

std::string short_rule(const RunResult&, const RunFigures& figures) {
  for (const auto& stage : figures.stages) {
    const int64_t length_ns = stage.last_end_ns - stage.first_start_ns;
    if (stage.vms > 0 && length_ns < kShortRun_ns)
      return fmt::format(
          "only {} were measured{}: caches, journals and the schedulers of the OSDs need longer "
          "than that to settle; run 60 s or more",
          format_duration(length_ns),
          figures.stages.size() > 1 ? fmt::format(" in stage {}", stage.stage + 1) : "");
  }
  return "";
}

std::string windows_rule(const RunResult&, const RunFigures& figures) {
  for (const auto& stage : figures.stages) {
    if (stage.rule == StageFigures::Rule::kSumOfRates)
      return "the VMs never all ran at once: the fleet's rate is the sum of rates of different "
             "times";
    const int64_t whole_ns = stage.last_end_ns - stage.first_start_ns;
    if (stage.rule == StageFigures::Rule::kCommonSlots &&
        stage.common_end_ns - stage.common_start_ns < whole_ns / 2)
      return fmt::format(
          "all VMs ran together for {} of {}: most of what was measured is not in the fleet's "
          "rate; "
          "use time_based with one runtime",
          format_duration(stage.common_end_ns - stage.common_start_ns), format_duration(whole_ns));
  }
  return "";
}

std::string samples_rule(const RunResult&, const RunFigures& figures) {
  for (const auto& stage : figures.stages) {
    if (stage.response.empty() || samples_beyond(stage.response, 0.99) >= kFewSamples) continue;
    return fmt::format(
        "{} I/Os{}: fewer than 100 samples lie beyond p99, so that p99 and above say little",
        format_count(stage.response.count()),
        figures.stages.size() > 1 ? fmt::format(" in stage {}", stage.stage + 1) : "");
  }
  return "";
}

std::string approximate_rule(const RunResult& result, const RunFigures&) {
  if (result.exact_percentiles) return "";
  return "percentiles over several VMs were put together from lists of percentiles, not from "
         "distributions; they "
         "are estimates (json+ of fio gives exact ones)";
}

}  // namespace cephmark
