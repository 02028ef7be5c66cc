#include "result/witness.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/units.h"

namespace cephmark {
namespace {

/// Less than this is drowned by headers and object maps.
constexpr uint64_t kTooLittle_bytes = kMiB;
/// Operations and bytes closer than this are the same (headers and maps come on top).
constexpr double kSame = 0.01;

bool uses_osds(const JobSpec& job) {
  return job.ioengine == "rbd" || job.ioengine == "rados" || job.ioengine == "rados-bench" ||
         job.ioengine == "cephfs";
}

void set_ratio(WitnessSide& side) {
  if (side.client_bytes < kTooLittle_bytes) return;
  side.byte_ratio = side.osd_bytes == 0 ? std::numeric_limits<double>::infinity()
                                        : static_cast<double>(side.client_bytes) /
                                              static_cast<double>(side.osd_bytes);
}

bool differs(uint64_t ours, uint64_t theirs) {
  return std::abs(static_cast<double>(ours) - static_cast<double>(theirs)) >
         kSame * static_cast<double>(ours);
}

/// The value of a fact that all targets share; "" when they differ or have none.
std::string shared_fact(const RunResult& result, const char* key) {
  std::string value;
  for (const auto& vm : result.vms)
    for (const auto& target : vm.targets) {
      const auto found = target.facts.find(key);
      if (found == target.facts.end() || (!value.empty() && value != found->second)) return "";
      value = found->second;
    }
  return value;
}

bool any_fact(const RunResult& result, const char* key) {
  for (const auto& vm : result.vms)
    for (const auto& target : vm.targets)
      if (target.facts.count(key)) return true;
  return false;
}

std::string ratio_text(double ratio) {
  return std::isinf(ratio) ? "they saw nothing of it" : fmt::format("ratio {:.3f}", ratio);
}

std::string bytes_line(const WitnessFigures& figures) {
  std::string text;
  const auto add = [&](const char* verb, const char* kind, const WitnessSide& side) {
    if (side.byte_ratio == 0) return;
    text += fmt::format("{}{} {} for our {} of {} ({})", text.empty() ? "the OSDs " : ", and ",
                        verb, format_size(side.osd_bytes), format_size(side.client_bytes), kind,
                        ratio_text(side.byte_ratio));
  };
  add("sent", "reads", figures.reads);
  add("took", "writes", figures.writes);
  return text;
}

std::string operations_line(const char* kind, const WitnessSide& side,
                            const std::string& scheduler) {
  if (side.client_ios == 0 || !differs(side.client_ios, side.osd_ops)) return "";
  std::string text = fmt::format("{} {} reached the OSDs as {} operations",
                                 format_count(side.client_ios), kind, format_count(side.osd_ops));
  const bool same_bytes = side.byte_ratio != 0 && !differs(side.client_bytes, side.osd_bytes);
  if (side.osd_ops < side.client_ios && same_bytes)
    text += scheduler.empty() || scheduler == "none"
                ? ": adjacent ones were merged on the way"
                : fmt::format(": librbd merged adjacent {} (rbd_io_scheduler {})", kind, scheduler);
  if (side.osd_ops > side.client_ios && same_bytes)
    text += ": an I/O that crosses objects or stripes is more than one operation";
  return text;
}

/// Writes to clones and to images whose lock wanders go out with a condition, and are then counted
/// with the operations for locks and object maps: apart from these they cannot be told.
std::string conditional_writes_line(const WitnessFigures& figures) {
  const WitnessSide& writes = figures.writes;
  if (writes.osd_ops >= writes.client_ios || figures.extra_ops * 10 <= writes.client_ios) return "";
  return fmt::format(
      "{} writes reached the OSDs as {}{} operations that also read or check something; those for "
      "locks, watches, headers and object maps are among them",
      format_count(writes.client_ios),
      writes.osd_ops == 0 ? "" : fmt::format("{} plain writes and ", format_count(writes.osd_ops)),
      format_count(figures.extra_ops));
}

std::string copy_up_line(const RunResult& result, const WitnessFigures& figures) {
  if (figures.writes.client_ios == 0 || !any_fact(result, "parent")) return "";
  const auto beyond = [](const WitnessSide& side) {
    return side.osd_bytes > side.client_bytes ? side.osd_bytes - side.client_bytes : 0;
  };
  const uint64_t read = beyond(figures.reads), written = beyond(figures.writes);
  if (read + written < kTooLittle_bytes) return "";
  return fmt::format(
      "{} were read and {} written beyond our own I/O: copy-up, a clone's object is copied from "
      "its "
      "parent at the first write to it",
      format_size(read), format_size(written));
}

}  // namespace

WitnessFigures witness_figures(const RunResult& result, const RunFigures& figures) {
  WitnessFigures out;
  const ClusterWitness& witness = result.witness;
  for (const auto& job : figures.jobs) out.available |= uses_osds(*job.spec);
  out.available &= witness.available;
  if (!out.available) return out;
  if (witness.client_reads + witness.client_writes > 0) {
    out.reads = {witness.client_reads, witness.client_read_bytes, 0, 0, 0};
    out.writes = {witness.client_writes, witness.client_write_bytes, 0, 0, 0};
  } else {
    for (const auto& job : figures.jobs)
      for (int i = 0; i < kOpCount; ++i) {
        const Op op = static_cast<Op>(i);
        if (op == Op::kFlush) continue;
        WitnessSide& side = op == Op::kRead ? out.reads : out.writes;
        side.client_ios += job.ops[i].ios;
        if (op == Op::kRead || op == Op::kWrite) side.client_bytes += job.ops[i].bytes;
      }
  }
  out.reads.osd_ops = witness.read_ops;
  out.reads.osd_bytes = witness.read_bytes;
  out.writes.osd_ops = witness.write_ops;
  out.writes.osd_bytes = witness.write_bytes;
  out.extra_ops = witness.extra_ops;
  set_ratio(out.reads);
  set_ratio(out.writes);
  return out;
}

std::vector<std::string> witness_lines(const RunResult& result, const WitnessFigures& figures) {
  std::vector<std::string> lines;
  if (!figures.available) return lines;
  const auto add = [&](std::string line) {
    if (!line.empty()) lines.push_back(std::move(line));
  };
  add(bytes_line(figures));
  const std::string scheduler = shared_fact(result, "io scheduler");
  add(operations_line("reads", figures.reads, scheduler));
  const std::string conditional = conditional_writes_line(figures);
  add(conditional.empty() ? operations_line("writes", figures.writes, scheduler) : conditional);
  add(copy_up_line(result, figures));
  if (figures.extra_ops > 0 && conditional.empty())
    add(fmt::format("{} more operation{} locks, watches, headers and object maps",
                    format_count(figures.extra_ops),
                    figures.extra_ops == 1 ? " was for" : "s were for"));
  if (lines.empty()) lines.push_back("less than 1 MiB was moved: too little to compare");
  return lines;
}

}  // namespace cephmark
