#include "output/text_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/time.h"
#include "base/units.h"
#include "output/cells.h"

namespace cephmark {
namespace {

std::string plural(uint64_t count, const std::string& one) {
  return fmt::format("{} {}{}", format_count(count), one, count == 1 ? "" : "s");
}

std::string job_text(const JobSpec& job) {
  std::string text =
      fmt::format("{}: {} {}, depth {}", job.name, job.rw.name, block_size_text(job), job.iodepth);
  if (job.numjobs > 1) text += fmt::format(" x {} clones", job.numjobs);
  return text + ", " + job.ioengine;
}

std::string op_label(int op) {
  return op == op_index(Op::kWriteZeroes) ? "zeroes" : std::string(kOpNames[op]);
}

std::vector<std::string> latency_row(std::string op, std::string kind, const Histogram& histogram) {
  std::vector<std::string> cells = latency_text_cells(histogram);
  cells.insert(cells.begin(), {std::move(op), std::move(kind)});
  return cells;
}

}  // namespace

std::string stage_jobs_text(const RunFigures& figures, int stage) {
  std::vector<std::string> texts;
  for (const auto& job : figures.jobs) {
    if (job.spec->stage != stage) continue;
    const std::string text = job_text(*job.spec);
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  }
  constexpr size_t kShown = 4;
  std::string all;
  for (size_t i = 0; i < std::min(kShown, texts.size()); ++i) all += (i ? "; " : "") + texts[i];
  if (texts.size() > kShown) all += fmt::format("; and {} more", texts.size() - kShown);
  return all;
}

std::string title_text(const RunResult& result, const RunFigures& figures, const TextStyle& style) {
  std::string first = fmt::format("{}, {}", result.plan.title.empty() ? "run" : result.plan.title,
                                  plural(result.plan.vms.size(), "VM"));
  if (figures.stages.size() == 1)
    first += ", " + stage_jobs_text(figures, figures.stages.front().stage);
  std::string text = style.bold(wrap(first, style.columns(), 2)) + "\n";
  std::string second;
  const auto add = [&](const std::string& part) { second += (second.empty() ? "" : ", ") + part; };
  if (result.start_wall_ns > 0)
    add(fmt::format("{} to {}", local_time_text(result.start_wall_ns),
                    result.end_wall_ns > 0 ? local_time_text(result.end_wall_ns) : "-"));
  if (!result.runner.empty()) add("runner " + result.runner);
  if (!result.id.empty()) add("result " + result.id);
  return second.empty() ? text : text + wrap(second, style.columns(), 2) + "\n";
}

std::string headline_text(const RunResult& result, const StageFigures& stage,
                          const TextStyle& style) {
  if (stage.vms == 0) return "\nNothing was measured.\n";
  std::string text = fmt::format(
      "\n{}\n", style.bold(fmt::format("{} IOPS   {} MiB/s ({} MB/s)   p99 response {}",
                                       iops_text(stage.data.iops), mib_text(stage.data.bytes_per_s),
                                       mb_text(stage.data.bytes_per_s),
                                       quantile_text(stage.response, 0.99))));
  const int64_t length = stage.common_end_ns - stage.common_start_ns;
  const std::string who = plural(stage.vms, "VM");
  switch (stage.rule) {
    case StageFigures::Rule::kWhole:
      text += fmt::format("  {} over {}\n", who, format_duration(length));
      break;
    case StageFigures::Rule::kCommonSlots:
      text += fmt::format(
          "  {} over the {} in which all of them ran; tail included (first start to last "
          "end, {}):\n  {} IOPS, {} MiB/s\n",
          who, format_duration(length), format_duration(stage.last_end_ns - stage.first_start_ns),
          iops_text(stage.whole.iops), mib_text(stage.whole.bytes_per_s));
      break;
    default:
      text += fmt::format(
          "  {} that never all ran at once: the sum of their own rates; first start to "
          "last end\n  ({}): {} IOPS, {} MiB/s\n",
          who, format_duration(stage.last_end_ns - stage.first_start_ns),
          iops_text(stage.whole.iops), mib_text(stage.whole.bytes_per_s));
  }
  if (!result.taints.empty())
    text += style.alert(fmt::format("  {} below: read {} before you use this number",
                                    plural(result.taints.size(), "warning"),
                                    result.taints.size() == 1 ? "it" : "them")) +
            "\n";
  return text;
}

std::string rates_text(const StageFigures& stage) {
  if (stage.vms == 0) return "";
  TextTable table({"", "IOPS", "MiB/s", "MB/s", "I/Os", "data", "errors"}, 1);
  int kinds = 0;
  const auto add = [&](const std::string& name, const Rate& rate) {
    table.add({name, iops_text(rate.iops), mib_text(rate.bytes_per_s), mb_text(rate.bytes_per_s),
               format_count(rate.ios), format_size(rate.bytes), format_count(rate.errors)});
  };
  for (int i = 0; i < kOpCount; ++i) {
    if (i == op_index(Op::kFlush) || stage.ops[i].ios + stage.ops[i].errors == 0) continue;
    add(op_label(i), stage.ops[i]);
    ++kinds;
  }
  if (kinds != 1) add("all", stage.data);
  const Rate& flush = stage.ops[op_index(Op::kFlush)];
  if (flush.ios + flush.errors > 0)
    table.add({"flush", iops_text(flush.iops), "-", "-", format_count(flush.ios), "-",
               format_count(flush.errors)});
  return "\n" + table.text(2, 3);
}

std::string latency_text(const RunFigures& figures, const StageFigures& stage,
                         const TextStyle& style) {
  TextTable table({"Latency", "", "mean", "p50", "p90", "p99", "p99.9", "p99.99", "max"}, 2);
  bool marked = false;
  int kinds = 0;
  for (int i = 0; i < kOpCount; ++i) {
    if (stage.op_response[i].empty() && stage.op_service[i].empty()) continue;
    table.add(latency_row(op_label(i), "response", stage.op_response[i]));
    table.add(latency_row("", "service", stage.op_service[i]));
    marked =
        marked || has_marked_cell(stage.op_response[i]) || has_marked_cell(stage.op_service[i]);
    if (i != op_index(Op::kFlush)) ++kinds;
  }
  if (kinds > 1) {
    table.add(latency_row("all", "response", stage.response));
    table.add(latency_row("", "service", stage.service));
  }
  if (stage.response.empty() && kinds == 0 && stage.op_response[op_index(Op::kFlush)].empty())
    return "";
  std::string text = "\n" + table.text(0, 2);
  text += style.dim(
              "  response: from when it was due until it was done; service: from its submission") +
          "\n";
  if (marked) text += style.dim(fmt::format("  {}", kFewSamplesNote)) + "\n";
  std::set<std::string> sizes;
  for (const auto& job : figures.jobs)
    if (job.spec->stage == stage.stage) sizes.insert(block_size_text(*job.spec));
  if (sizes.size() > 1)
    text += style.dim(
                "  jobs of different block sizes are in one distribution here; --output csv keeps "
                "them apart") +
            "\n";
  return text;
}

std::string errors_text(const RunResult& result, const RunFigures& figures,
                        const TextStyle& style) {
  std::string text;
  if (figures.errors > 0) {
    std::map<int, uint64_t> codes;
    for (const auto& job : figures.jobs)
      for (const auto& op : job.result->ops)
        if (op)
          for (const auto& [code, count] : op->errors) codes[code] += count;
    text += "\n" +
            style.alert(fmt::format("Errors: {} ({})", format_count(figures.errors),
                                    error_codes_text(codes))) +
            "\n";
  }
  constexpr int kShown = 8;
  int shown = 0;
  for (const auto& job : figures.jobs) {
    for (const auto& sample : job.result->error_samples) {
      if (++shown > kShown) break;
      text += wrap(fmt::format("  {} {} at {:.3f} s: {} at offset {}, {} bytes: {}",
                               job.vm_plan->name, job.spec->name,
                               static_cast<double>(sample.at_ns) / kNsPerSecond, op_name(sample.op),
                               sample.offset, sample.length, errno_text(sample.error)),
                   style.columns(), 6) +
              "\n";
    }
  }
  if (shown > kShown) text += "  ... more samples are in --output json\n";
  const std::string failures = failures_text(result, figures);
  if (!failures.empty()) text += "\n" + style.alert(wrap(failures, style.columns(), 2)) + "\n";
  int64_t abandoned = 0;
  for (const auto& job : figures.jobs) abandoned += job.result->abandoned;
  if (abandoned > 0)
    text += fmt::format("\n{} never came back before the end; they are in no number above.\n",
                        plural(abandoned, "request"));
  return text;
}

std::string doubts_text(const RunResult& result, const TextStyle& style) {
  if (result.taints.empty() && result.plan.warnings.empty()) return "";
  std::string text;
  if (!result.taints.empty()) {
    text += "\n" + style.alert("What makes these numbers doubtful") +
            " (docs/measuring.md tells more)\n";
    // A fleet may have the same trouble a thousand times.
    constexpr uint64_t kShown = 8;
    std::map<std::string, uint64_t> by_code;
    for (const auto& taint : result.taints)
      if (++by_code[taint.code] <= kShown)
        text += wrap(fmt::format("  {}: {}", taint.code, taint.text), style.columns(), 6) + "\n";
    for (const auto& [code, count] : by_code)
      if (count > kShown)
        text += fmt::format("  {}: {} more like these, all in --output json\n", code,
                            format_count(count - kShown));
  }
  if (!result.plan.warnings.empty()) {
    text += "\nNotes on the job file\n";
    for (const auto& warning : result.plan.warnings)
      text += wrap("  " + warning, style.columns(), 6) + "\n";
  }
  return text;
}

}  // namespace cephmark
