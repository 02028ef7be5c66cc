// The table of scenario 1: one row per VM process and job, in the columns (and with the "MB") that
// people's scripts read.
#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "output/cells.h"
#include "output/writers.h"

namespace cephmark {
namespace {

std::string two_decimals(double value) {
  return fmt::format("{:.2f}", value);
}

std::vector<std::string> row(std::string process, std::string job,
                             const std::array<Rate, kOpCount>& ops, bool measured) {
  std::vector<std::string> cells = {std::move(process), std::move(job)};
  for (const Op op : {Op::kRead, Op::kWrite}) {
    const Rate& rate = ops[op_index(op)];
    cells.push_back(measured ? two_decimals(rate.iops) : "-");
    cells.push_back(measured ? two_decimals(rate.bytes_per_s / kMiB) : "-");
  }
  return cells;
}

constexpr size_t kColumns = 100;

class TableWriter final : public Writer {
 public:
  explicit TableWriter(std::ostream& out) : out_(out) {}

  void end(const RunResult& result) override {
    const RunFigures figures = figures_of(result);
    TextTable table(
        {"Process", "JobName", "Read_IOPS", "Read_BW(MB/s)", "Write_IOPS", "Write_BW(MB/s)"}, 2);
    for (const auto& job : figures.jobs)
      table.add(row(fmt::format("proc_{}", job.vm_plan->index), job.spec->name, job.ops,
                    job.window_ns > 0));
    for (const auto& stage : figures.stages)
      table.add(row("total",
                    figures.stages.size() > 1 ? fmt::format("stage_{}", stage.stage + 1) : "",
                    stage.ops, stage.vms > 0));
    if (figures.stages.empty()) table.add(row("total", "", {}, false));
    out_ << table.text(0, 3) << notes(result, figures);
  }

 private:
  static std::string notes(const RunResult& result, const RunFigures& figures) {
    std::string text =
        "\nMB = 2^20 bytes here. Each row is over its own time, total over the time in which all "
        "VMs ran.\n";
    if (figures.errors > 0)
      text +=
          fmt::format("{} I/Os failed and are not counted above.\n", format_count(figures.errors));
    if (!result.stop_reason.empty())
      text +=
          fmt::format("Stopped early: {}. These are the numbers until then.\n", result.stop_reason);
    if (!result.error.empty()) text += fmt::format("The run failed: {}\n", result.error);
    if (const auto failures = failures_text(result, figures); !failures.empty())
      text += failures + "\n";
    if (!result.taints.empty()) text += "What makes these numbers doubtful:\n";
    constexpr size_t kShown = 4;
    for (size_t i = 0; i < std::min(kShown, result.taints.size()); ++i)
      text +=
          wrap(fmt::format("  {}: {}", result.taints[i].code, result.taints[i].text), kColumns, 6) +
          "\n";
    if (result.taints.size() > kShown)
      text += fmt::format("  and {} more (cephmark results show, or --output text)\n",
                          format_count(result.taints.size() - kShown));
    return text;
  }

  std::ostream& out_;
};

}  // namespace

std::unique_ptr<Writer> make_table_writer(std::ostream& out, const WriterOptions&) {
  return std::make_unique<TableWriter>(out);
}

}  // namespace cephmark
