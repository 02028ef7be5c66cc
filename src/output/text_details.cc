// The per-VM table, what the run cost and how it was set up: the second half of the text report.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "base/spelling.h"
#include "base/time.h"
#include "base/units.h"
#include "output/cells.h"
#include "output/text_sections.h"
#include "result/witness.h"

namespace cephmark {
namespace {

constexpr size_t kMaxVmRows = 20;

std::string depth_text(double depth) {
  return depth < 999.95 ? fmt::format("{:.1f}", depth)
                        : format_count(static_cast<uint64_t>(std::llround(depth)));
}

struct VmColumns {
  bool job = false, read = false, write = false, other = false;
  std::vector<std::string> sections;  ///< in the order of the plan
};

Rate other_rate(const JobFigures& job) {
  Rate sum = job.ops[op_index(Op::kTrim)];
  const Rate& zeroes = job.ops[op_index(Op::kWriteZeroes)];
  sum.iops += zeroes.iops;
  sum.bytes_per_s += zeroes.bytes_per_s;
  return sum;
}

VmColumns columns_of(const RunFigures& figures) {
  VmColumns columns;
  auto& names = columns.sections;
  for (const auto& job : figures.jobs) {
    if (std::find(names.begin(), names.end(), job.spec->name) == names.end())
      names.push_back(job.spec->name);
    columns.read = columns.read || job.spec->rw.reads;
    columns.write = columns.write || job.spec->rw.writes;
    columns.other = columns.other || other_rate(job).iops > 0 || job.spec->rw.trims;
  }
  columns.job = names.size() > 1;
  return columns;
}

Histogram response_of(const JobFigures& job) {
  Histogram all;
  for (int i = 0; i < kOpCount; ++i)
    if (i != op_index(Op::kFlush) && job.result->ops[i]) all.merge(job.result->ops[i]->response);
  return all;
}

/// How much is left out so that the table fits: names, then MB/s (which is MiB/s in other units).
struct VmTableStyle {
  size_t vm_width, vm_width_beside_job, job_width;
  bool mb;
};
constexpr VmTableStyle kVmTableStyles[] = {
    {24, 14, 10, true}, {12, 10, 8, true}, {12, 10, 8, false}};

std::vector<std::string> headings(const VmColumns& columns, const VmTableStyle& style) {
  std::vector<std::string> cells = {"VM"};
  if (columns.job) cells.push_back("job");
  const auto add = [&](const char* op) {
    cells.push_back(std::string(op) + " IOPS");
    cells.push_back("MiB/s");
    if (style.mb) cells.push_back("MB/s");
  };
  if (columns.read) add("rd");
  if (columns.write) add("wr");
  if (columns.other) add("trim");
  for (const char* name : {"p99", "depth", "errors"}) cells.push_back(name);
  return cells;
}

std::vector<std::string> vm_row(const JobFigures& job, const VmColumns& columns,
                                const VmTableStyle& style) {
  const bool measured = job.window_ns > 0;
  std::vector<std::string> cells = {
      shorten(job.vm_plan->name, columns.job ? style.vm_width_beside_job : style.vm_width)};
  if (columns.job) cells.push_back(shorten(job.spec->name, style.job_width));
  const auto add = [&](const Rate& rate, bool wanted) {
    const bool shown = measured && (wanted || rate.ios + rate.errors > 0);
    cells.push_back(shown ? iops_text(rate.iops) : "-");
    cells.push_back(shown ? mib_text(rate.bytes_per_s) : "-");
    if (style.mb) cells.push_back(shown ? mb_text(rate.bytes_per_s) : "-");
  };
  if (columns.read) add(job.ops[op_index(Op::kRead)], job.spec->rw.reads);
  if (columns.write) add(job.ops[op_index(Op::kWrite)], job.spec->rw.writes);
  if (columns.other) add(other_rate(job), job.spec->rw.trims);
  cells.push_back(quantile_text(response_of(job), 0.99));
  cells.push_back(measured ? fmt::format("{:.1f}/{}", job.achieved_depth, job.requested_depth)
                           : "-");
  uint64_t errors = 0;
  for (const auto& rate : job.ops) errors += rate.errors;
  cells.push_back(format_count(errors));
  return cells;
}

using RateOf = std::function<Rate(const JobFigures&)>;

std::vector<RateOf> rate_columns(const VmColumns& columns) {
  std::vector<RateOf> rates;
  if (columns.read)
    rates.push_back([](const JobFigures& job) { return job.ops[op_index(Op::kRead)]; });
  if (columns.write)
    rates.push_back([](const JobFigures& job) { return job.ops[op_index(Op::kWrite)]; });
  if (columns.other) rates.push_back(other_rate);
  return rates;
}

/// min, median and max over the VMs of each rate column of one section, as three rows.
void add_spread(TextTable& table, const RunFigures& figures, const VmColumns& columns,
                const VmTableStyle& style, const std::string& section) {
  std::vector<const JobFigures*> jobs;
  for (const auto& job : figures.jobs)
    if (job.window_ns > 0 && job.spec->name == section) jobs.push_back(&job);
  if (jobs.size() < 2) return;
  std::vector<std::string> low = {"min"}, middle = {"median"}, high = {"max"};
  const auto add = [&](const std::function<double(const JobFigures&)>& get) {
    std::vector<double> values;
    for (const JobFigures* job : jobs) values.push_back(get(*job));
    std::sort(values.begin(), values.end());
    const size_t n = values.size();
    if (values.back() == 0) {
      for (auto* row : {&low, &middle, &high}) row->push_back("-");
      return;
    }
    low.push_back(fixed_text(values.front()));
    middle.push_back(fixed_text((values[(n - 1) / 2] + values[n / 2]) / 2));
    high.push_back(fixed_text(values.back()));
  };
  if (columns.job)
    for (auto* row : {&low, &middle, &high}) row->push_back(shorten(section, style.job_width));
  for (const auto& rate : rate_columns(columns)) {
    add([&](const JobFigures& job) { return rate(job).iops; });
    add([&](const JobFigures& job) { return rate(job).bytes_per_s / kMiB; });
    if (style.mb) add([&](const JobFigures& job) { return rate(job).bytes_per_s / 1e6; });
  }
  for (auto& row : {low, middle, high}) table.add(row);
}

std::string label(const std::string& name, const std::string& text, const TextStyle& style) {
  constexpr size_t kIndent = 18;
  std::string out = fmt::format("  {:<{}}", name, kIndent - 2);
  for (const char c : wrap(text, style.columns() - kIndent, 0)) {
    out += c;
    if (c == '\n') out.append(kIndent, ' ');
  }
  return out + "\n";
}

/// "off (set by cephmark)" when all targets say the same; else "off (12), writeback (4)".
std::string common_fact(const RunResult& result, const std::string& key) {
  std::map<std::string, int> values;
  for (const auto& vm : result.vms)
    for (const auto& target : vm.targets)
      if (const auto it = target.facts.find(key); it != target.facts.end()) ++values[it->second];
  if (values.size() == 1) return values.begin()->first;
  std::string text;
  for (const auto& [value, count] : values)
    text += fmt::format("{}{} on {} targets", text.empty() ? "" : "; ", value, count);
  return text;
}

std::string targets_line(const RunResult& result) {
  std::set<std::string, NaturalLess> names;
  uint64_t bytes = 0;
  for (const auto& vm : result.vms)
    for (const auto& target : vm.targets)
      if (names.insert(target.name).second) bytes += target.size_bytes;
  if (names.empty()) return "";
  std::string text;
  size_t shown = 0;
  for (const auto& name : names) {
    if (++shown > 4) break;
    text += (text.empty() ? "" : ", ") + name;
  }
  if (names.size() > 4) text += fmt::format(" and {} more", names.size() - 4);
  return text + fmt::format(" ({} in all)", format_size(bytes));
}

std::string phases_line(const RunResult& result) {
  std::string text;
  const int stages = result.plan.stage_count();
  for (const auto& phase : result.phases) {
    if (!text.empty()) text += ", ";
    text += phase_name(phase.kind);
    const bool of_stage = phase.kind >= PhaseKind::kWarmup;  // the others are of the whole run
    if (stages > 1 && of_stage) text += fmt::format(" (stage {})", phase.stage + 1);
    text += " " + format_duration(phase.end_ns - phase.start_ns);
  }
  return text;
}

void add_witness(std::string& text, const RunResult& result, const RunFigures& figures,
                 const TextStyle& style) {
  const ClusterWitness& witness = result.witness;
  if (!witness.available) {
    if (!witness.unavailable_reason.empty())
      text += label("OSD counters", "not available: " + witness.unavailable_reason, style);
    return;
  }
  const char* name = "OSD counters";
  for (const auto& line : witness_lines(result, witness_figures(result, figures))) {
    text += label(name, line, style);
    name = "";
  }
}

std::string rows_text(const RunFigures& figures, const VmColumns& columns,
                      const VmTableStyle& style, size_t shown) {
  TextTable table(headings(columns, style), columns.job ? 2 : 1);
  for (size_t i = 0; i < shown; ++i) table.add(vm_row(figures.jobs[i], columns, style));
  constexpr size_t kMaxSpreads = 4;
  for (size_t i = 0; i < std::min(kMaxSpreads, columns.sections.size()); ++i)
    add_spread(table, figures, columns, style, columns.sections[i]);
  return table.text(0, columns.read && columns.write ? 1 : 2);
}

size_t longest_line(std::string_view text) {
  size_t longest = 0;
  for (size_t from = 0; from < text.size();) {
    const size_t end = std::min(text.find('\n', from), text.size());
    longest = std::max(longest, end - from);
    from = end + 1;
  }
  return longest;
}

}  // namespace

std::string vm_table_text(const RunFigures& figures, const TextStyle& style) {
  if (figures.jobs.empty()) return "";
  const VmColumns columns = columns_of(figures);
  const size_t shown = std::min(kMaxVmRows, figures.jobs.size());
  std::string text;
  for (const VmTableStyle& table_style : kVmTableStyles) {
    text = "\n" + rows_text(figures, columns, table_style, shown);
    if (longest_line(text) <= style.columns()) break;
  }
  if (figures.jobs.size() > shown)
    text += style.dim(fmt::format(
                "  ... and {} more rows; --output csv shows all; min, median and max are "
                "over all of them",
                format_count(figures.jobs.size() - shown))) +
            "\n";
  for (const auto& stage : figures.stages)
    for (const auto& fair : stage.fairness) {
      if (fair.jain == 0) continue;
      const std::string line =
          fmt::format("  fairness{}{} over {} VMs: {} to {} IOPS, median {}, Jain's index {:.4f}",
                      figures.stages.size() > 1 ? fmt::format(" in stage {}", stage.stage + 1) : "",
                      fair.group.empty() ? "" : " of " + fair.group, format_count(fair.vms),
                      iops_text(fair.min_iops), iops_text(fair.max_iops),
                      iops_text(fair.median_iops), fair.jain);
      text += wrap(line, style.columns(), 4) + "\n";
    }
  return text;
}

std::string cost_text(const RunResult& result, const RunFigures& figures, const TextStyle& style) {
  std::string text;
  for (const auto& stage : figures.stages) {
    if (stage.vms == 0) continue;
    text +=
        label(figures.stages.size() > 1 ? fmt::format("Depth, stage {}", stage.stage + 1) : "Depth",
              fmt::format("{} in flight on average, {} requested over all VMs",
                          depth_text(stage.achieved_depth), format_count(stage.requested_depth)),
              style);
  }
  if (text.empty()) return text;
  bool open_loop = figures.late > 0;
  for (const auto& job : figures.jobs)
    for (int i = 0; i < kDirectionCount; ++i)
      open_loop = open_loop || job.spec->rate_iops[i] > 0 || job.spec->rate_bytes_per_s[i] > 0;
  if (open_loop)
    text += label("Late",
                  fmt::format("{} I/Os were issued more than 1 ms after they were due",
                              format_count(figures.late)),
                  style);
  else
    text += label(
        "Late", "- (no rate was asked for: each I/O is due when the one before it is done)", style);
  if (figures.cpu_ns_per_io > 0) {
    std::string cpu =
        fmt::format("{} per I/O", format_duration(static_cast<int64_t>(figures.cpu_ns_per_io)));
    if (figures.cpu_share > 0)
      cpu += fmt::format(", {:.1f} % of the {} allowed CPU{}", figures.cpu_share * 100,
                         result.allowed_cpus, result.allowed_cpus == 1 ? "" : "s");
    text += label("Client CPU", cpu, style);
  }
  add_witness(text, result, figures, style);
  return "\n" + text;
}

std::string setup_text(const RunResult& result, const TextStyle& style) {
  std::string text;
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) text += label(name, value, style);
  };
  add("Phases", phases_line(result));
  add("Targets", targets_line(result));
  add("Cache", common_fact(result, "cache"));
  if (result.connections > 0) {
    std::string value = fmt::format("{} to the cluster", result.connections);
    if (result.budget_ops > 0)
      value += fmt::format("; each may have {} operations and {} in flight",
                           format_count(result.budget_ops), format_size(result.budget_bytes));
    add("Connections", value);
  }
  const auto fact = [](const std::map<std::string, std::string>& facts, const char* key) {
    const auto it = facts.find(key);
    return it == facts.end() ? std::string() : it->second;
  };
  std::string cluster = fact(result.environment.cluster, "fsid");
  if (!cluster.empty()) {
    if (const auto version = fact(result.environment.cluster, "version"); !version.empty())
      cluster += ", " + version;
    const auto health = fact(result.environment.cluster, "health_at_start"),
               at_end = fact(result.environment.cluster, "health_at_end");
    if (!health.empty()) cluster += ", " + health;
    if (!at_end.empty() && at_end != health) cluster += " at the start, " + at_end + " at the end";
    add("Ceph", cluster);
  }
  for (const auto& [key, value] : result.environment.cluster) {
    if (!key.starts_with("pool ")) continue;
    const std::string fill = "fill " + key.substr(5);
    std::string line = key.substr(5) + ": " + value;
    if (const auto before = fact(result.environment.cluster, fill.c_str()); !before.empty())
      line += ", " + before + " full before the run";
    if (const auto after = fact(result.environment.cluster, (fill + " at end").c_str());
        !after.empty())
      line += " and " + after + " after it";
    add("Pool", line);
  }
  std::string host = fact(result.environment.host, "hostname");
  for (const auto& [key, before, after] :
       std::initializer_list<std::array<const char*, 3>>{{"kernel", "", ""},
                                                         {"cpus", "", " CPUs"},
                                                         {"memory", "", ""},
                                                         {"cpu_governor", "governor ", ""},
                                                         {"program", "", ""}})
    if (const auto value = fact(result.environment.host, key); !value.empty())
      host += fmt::format("{}{}{}{}", host.empty() ? "" : ", ", before, value, after);
  add("Host", host);
  return text;
}

}  // namespace cephmark
