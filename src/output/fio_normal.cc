// The report as a whole: each job's block, the groups, the disks. A direction's lines are in
// fio_normal_direction.cc.
#include "output/fio_normal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "output/fio_groups.h"
#include "output/fio_normal_direction.h"
#include "output/fio_number.h"

namespace cephmark {
namespace {

/// "  lat (usec)   : 4=0.03%, 50=0.03%": five shares a line, those that are not 0.
std::string share_lines(const Json& shares, const char* unit) {
  std::string out;
  int on_line = 0;
  for (const auto& [step, share] : shares.items()) {
    const double percent = share.get<double>();
    if (percent <= 0) continue;
    if (on_line == 5) {
      out += "\n";
      on_line = 0;
    }
    out += on_line == 0 ? fmt::format("  lat ({})   : ", unit) : std::string(", ");
    out += fmt::format("{}={:3.2f}%", step, percent);
    ++on_line;
  }
  return out.empty() ? out : out + "\n";
}

std::string level_line(const char* label, const Json& levels) {
  std::string line = label;
  bool first = true;
  for (const auto& [key, share] : levels.items()) {
    line += fmt::format("{}{}={:3.1f}%", first ? "" : ", ", key, share.get<double>());
    first = false;
  }
  return line + "\n";
}

uint64_t count_of(const Json& job, const char* direction, const char* key) {
  const auto found = job.find(direction);
  return found == job.end() ? 0 : found->at(key).get<uint64_t>();
}

std::string issued_line(const Json& job) {
  const auto triple = [&](const char* key) {
    if (job.contains("mixed") && !job.contains("read"))
      return fmt::format("{},0,0", count_of(job, "mixed", key));
    return fmt::format("{},{},{}", count_of(job, "read", key), count_of(job, "write", key),
                       count_of(job, "trim", key));
  };
  return fmt::format("     issued rwts: total={},{} short={},0 dropped={},0\n", triple("total_ios"),
                     count_of(job, "sync", "total_ios"), triple("short_ios"), triple("drop_ios"));
}

std::string latency_target_line(const Json& job) {
  return fmt::format(
      "     latency   : target={:.2f}ns, window={:.2f}ns, percentile={:.2f}%, depth={}\n",
      job.value("latency_target_ns", 0.0), job.value("latency_window_us", 0.0) * 1000,
      job.at("latency_percentile").get<double>(), job.at("latency_depth").get<int64_t>());
}

bool did_anything(const Json& job) {
  for (const char* direction : kFioDirections) {
    const auto found = job.find(direction);
    if (found == job.end()) continue;
    if (found->at("io_bytes").get<uint64_t>() + found->at("total_ios").get<uint64_t>() > 0)
      return true;
  }
  return false;
}

std::string job_text(const Json& job, const FioJobHeader& header, const std::string& time) {
  const int error = job.at("error").get<int>();
  std::string out =
      fmt::format("{}: (groupid={}, jobs={}): err={:2d}{}: pid={}: {}\n",
                  job.at("jobname").get<std::string>(), job.at("groupid").get<int64_t>(),
                  header.members, error, error != 0 ? " (" + header.error_text + ")" : "",
                  header.pid, header.ended.empty() ? time : header.ended);
  if (job.contains("desc"))
    out += fmt::format("  Description  : [{}]\n", job["desc"].get<std::string>());
  for (const char* direction : kFioDirections)
    if (const auto found = job.find(direction); found != job.end())
      out += fio_direction_lines(*found, direction);
  out += share_lines(job.at("latency_ns"), "nsec");
  out += share_lines(job.at("latency_us"), "usec");
  out += share_lines(job.at("latency_ms"), "msec");
  if (const auto sync = job.find("sync"); sync != job.end()) out += fio_sync_lines(*sync);
  out += fmt::format("  cpu          : usr={:3.2f}%, sys={:3.2f}%, ctx={}, majf={}, minf={}\n",
                     job.at("usr_cpu").get<double>(), job.at("sys_cpu").get<double>(),
                     job.at("ctx").get<uint64_t>(), job.at("majf").get<uint64_t>(),
                     job.at("minf").get<uint64_t>());
  out += level_line("  IO depths    : ", job.at("iodepth_level"));
  out += level_line("     submit    : ", job.at("iodepth_submit"));
  out += level_line("     complete  : ", job.at("iodepth_complete"));
  out += issued_line(job);
  if (job.contains("total_err"))
    out += fmt::format("     errors    : total={}, first_error={}/<{}>\n",
                       job["total_err"].get<uint64_t>(), job["first_error"].get<int>(),
                       std::strerror(job["first_error"].get<int>()));
  return out + latency_target_line(job);
}

std::string group_line(const char* name, const FioGroupDirection& group) {
  const auto rate = [](uint64_t value, FioScale scale) {
    return fio_number(value, 4, scale, "B/s");
  };
  constexpr FioScale kBinary = FioScale::kBinary, kDecimal = FioScale::kDecimal;
  return fmt::format(
      "{:>7}: bw={}, {}-{} ({}-{}), io={} ({}), run={}-{}msec\n", name,
      fio_rate_pair(group.bytes_per_s()), rate(group.least_bytes_per_s, kBinary),
      rate(group.most_bytes_per_s, kBinary), rate(group.least_bytes_per_s, kDecimal),
      rate(group.most_bytes_per_s, kDecimal), fio_number(group.bytes, 4, kBinary, "B"),
      fio_number(group.bytes, 4, kDecimal, "B"), group.shortest_ms, group.longest_ms);
}

std::string groups_text(const Json& jobs) {
  constexpr const char* kNames[] = {"READ", "WRITE", "TRIM", "MIXED"};
  std::string out;
  for (const auto& [id, directions] : fio_groups(jobs)) {
    out += fmt::format("\nRun status group {} (all jobs):\n", id);
    for (size_t i = 0; i < std::size(kNames); ++i)
      if (directions[i].longest_ms > 0) out += group_line(kNames[i], directions[i]);
  }
  return out;
}

std::string disks_text(const Json& document) {
  const auto disks = document.find("disk_util");
  if (disks == document.end() || disks->empty()) return "";
  std::string out = "\nDisk stats (read/write):\n";
  for (const auto& disk : *disks) {
    const auto pair = [&](const char* reads, const char* writes) {
      return fmt::format("{}/{}", disk.at(reads).get<uint64_t>(), disk.at(writes).get<uint64_t>());
    };
    const std::string sectors =
        disk.contains("read_sectors")  // fio before 3.37 did not tell them
            ? fmt::format("sectors={}, ", pair("read_sectors", "write_sectors"))
            : "";
    out += fmt::format("  {}: ios={}, {}merge={}, ticks={}, in_queue={}, util={:3.2f}%\n",
                       disk.at("name").get<std::string>(), pair("read_ios", "write_ios"), sectors,
                       pair("read_merges", "write_merges"), pair("read_ticks", "write_ticks"),
                       disk.at("in_queue").get<uint64_t>(), disk.at("util").get<double>());
  }
  return out;
}

}  // namespace

std::string fio_normal_text(const Json& document, const std::vector<FioJobHeader>& headers) {
  const Json& jobs = document.at("jobs");
  const auto time = document.at("time").get<std::string>();
  std::string out = "\n";
  for (size_t i = 0; i < jobs.size(); ++i)
    if (did_anything(jobs[i]))
      out += job_text(jobs[i], i < headers.size() ? headers[i] : FioJobHeader(), time);
  return out + groups_text(jobs) + disks_text(document);
}

}  // namespace cephmark
