#include "output/fio_terse.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "output/fio_groups.h"

namespace cephmark {
namespace {

constexpr int kPercentileFields = 20;  ///< unused ones are "0%=0"
constexpr double kUsualPercentiles[] = {1,  5,  10, 20, 30,   40,   50,    60,   70,
                                        80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99};

/// Fields joined by ';'.
class Line {
 public:
  template <typename... Values>
  void add(fmt::format_string<Values...> text, Values&&... values) {
    if (!text_.empty()) text_ += ';';
    text_ += fmt::format(text, std::forward<Values>(values)...);
  }
  std::string take() { return text_ + "\n"; }

 private:
  std::string text_;
};

void add_latency(Line& line, const Json& latency) {
  line.add("{}", latency.at("min").get<uint64_t>() / 1000);
  line.add("{}", latency.at("max").get<uint64_t>() / 1000);
  line.add("{:.6f}", latency.at("mean").get<double>() / 1000);
  line.add("{:.6f}", latency.at("stddev").get<double>() / 1000);
}

void add_percentiles(Line& line, const Json& latency) {
  int fields = 0;
  if (const auto found = latency.find("percentile"); found != latency.end()) {
    for (const auto& [key, ns] : found->items()) {
      line.add("{}%={}", key, ns.get<uint64_t>() / 1000);
      ++fields;
    }
  } else {
    for (const double percent : kUsualPercentiles) {
      line.add("{:.6f}%=0", percent);
      ++fields;
    }
  }
  for (; fields < kPercentileFields; ++fields) line.add("0%=0");
}

void add_direction(Line& line, const Json& direction, uint64_t group_bytes_per_s, int version) {
  const auto runtime_ms = direction.at("runtime").get<uint64_t>();
  const auto bytes = direction.at("io_bytes").get<uint64_t>();
  line.add("{}", bytes >> 10);
  line.add("{}", runtime_ms == 0 ? 0 : bytes * 1000 / runtime_ms / 1024);
  line.add("{}",
           runtime_ms == 0 ? 0 : direction.at("total_ios").get<uint64_t>() * 1000 / runtime_ms);
  line.add("{}", runtime_ms);
  add_latency(line, direction.at("slat_ns"));
  add_latency(line, direction.at("clat_ns"));
  // lat_percentiles=1 puts those of the whole latency in the place of clat's.
  const bool whole = direction.at("lat_ns").contains("percentile");
  add_percentiles(line, direction.at(whole ? "lat_ns" : "clat_ns"));
  add_latency(line, direction.at("lat_ns"));
  line.add("{}", direction.at("bw_min").get<uint64_t>());
  line.add("{}", direction.at("bw_max").get<uint64_t>());
  // Unlike the JSON's bw_agg, a share of whole KiB/s.
  const uint64_t group_kib_per_s = group_bytes_per_s / 1024;
  const auto mean = direction.at("bw_mean").get<double>();
  line.add("{:.6f}%", group_kib_per_s == 0
                          ? 0.0
                          : std::min(100.0, mean * 100 / static_cast<double>(group_kib_per_s)));
  line.add("{:.6f}", mean);
  line.add("{:.6f}", direction.at("bw_dev").get<double>());
  if (version < 5) return;
  line.add("{}", direction.at("bw_samples").get<uint64_t>());
  line.add("{}", direction.at("iops_min").get<uint64_t>());
  line.add("{}", direction.at("iops_max").get<uint64_t>());
  line.add("{:.6f}", direction.at("iops_mean").get<double>());
  line.add("{:.6f}", direction.at("iops_stddev").get<double>());
  line.add("{}", direction.at("iops_samples").get<uint64_t>());
}

/// Ten fields of microseconds, of which the first holds all that took less, and twelve of
/// milliseconds.
void add_shares(Line& line, const Json& job) {
  double below_us = 0;
  for (const auto& [step, share] : job.at("latency_ns").items()) below_us += share.get<double>();
  below_us = std::min(below_us, 100.0);  // shares below 0.01 % were each rounded up to it
  bool first = true;
  for (const auto& [step, share] : job.at("latency_us").items()) {
    line.add("{:.2f}%", share.get<double>() + (first ? below_us : 0));
    first = false;
  }
  for (const auto& [step, share] : job.at("latency_ms").items())
    line.add("{:.2f}%", share.get<double>());
}

void add_disks(Line& line, const Json& document) {
  const auto disks = document.find("disk_util");
  if (disks == document.end()) return;
  for (const auto& disk : *disks) {
    line.add("{}", disk.at("name").get<std::string>());
    for (const char* key : {"read_ios", "write_ios", "read_merges", "write_merges", "read_ticks",
                            "write_ticks", "in_queue"})
      line.add("{}", disk.at(key).get<uint64_t>());
    line.add("{:.2f}%", disk.at("util").get<double>());
  }
}

std::string job_line(const Json& document, const Json& job,
                     const std::array<FioGroupDirection, 4>& group, int version) {
  Line line;
  line.add("{}", version);
  if (version > 2) line.add("{}", document.at("fio version").get<std::string>());
  line.add("{}", job.at("jobname").get<std::string>());
  line.add("{}", job.at("groupid").get<int64_t>());
  line.add("{}", job.at("error").get<int>());
  const size_t directions = version == 3 ? 2 : 3;  // version 3 leaves trims out
  for (size_t i = 0; i < directions; ++i)
    add_direction(line, job.at(kFioDirections[i]), group[i].bytes_per_s(), version);
  line.add("{:.6f}%", job.at("usr_cpu").get<double>());
  line.add("{:.6f}%", job.at("sys_cpu").get<double>());
  for (const char* key : {"ctx", "majf", "minf"}) line.add("{}", job.at(key).get<uint64_t>());
  for (const auto& [level, share] : job.at("iodepth_level").items())
    line.add("{:3.1f}%", share.get<double>());
  add_shares(line, job);
  if (version >= 3) add_disks(line, document);
  if (job.contains("total_err")) {
    line.add("{}", job["total_err"].get<uint64_t>());
    line.add("{}", job["first_error"].get<int>());
  }
  if (version >= 3 && job.contains("desc")) line.add("{}", job["desc"].get<std::string>());
  std::string text = line.take();
  // Version 2 puts the description on a line of its own.
  if (version == 2 && job.contains("desc"))
    text += fmt::format(";{}\n", job["desc"].get<std::string>());
  return text;
}

}  // namespace

std::string fio_terse_text(const Json& document, int version) {
  if (!is_fio_terse_version(version))
    throw std::invalid_argument("fio's terse versions are 2 to 5");
  std::string out;
  auto groups = fio_groups(document.at("jobs"));
  for (const auto& job : document.at("jobs"))
    out += job_line(document, job, groups[job.at("groupid").get<int64_t>()], version);
  return out;
}

}  // namespace cephmark
