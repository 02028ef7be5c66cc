// The report that people read: the headline, rates, latencies, one row per VM, what the run cost
// and how it was set up, and last what makes the numbers doubtful. Fits WriterOptions::columns.
#include <fmt/format.h>

#include "base/time.h"
#include "base/units.h"
#include "output/cells.h"
#include "output/text_sections.h"
#include "output/writers.h"

namespace cephmark {
namespace {

class TextWriter final : public Writer {
 public:
  TextWriter(std::ostream& out, const WriterOptions& options) : out_(out), style_(options) {}

  void end(const RunResult& result) override {
    const RunFigures figures = figures_of(result);
    out_ << title_text(result, figures, style_);
    if (!result.error.empty())
      out_ << "\n"
           << style_.alert(wrap("The run failed: " + result.error, style_.columns(), 2)) << "\n";
    if (!result.stop_reason.empty())
      out_ << "\n"
           << style_.alert(
                  wrap(fmt::format("Stopped early: {}. What follows was measured until then.",
                                   result.stop_reason),
                       style_.columns(), 2))
           << "\n";
    for (const auto& stage : figures.stages) {
      if (stage.vms == 0) continue;
      if (figures.stages.size() > 1)
        out_ << "\n"
             << style_.bold(fmt::format("Stage {} of {}: {}", stage.stage + 1,
                                        result.plan.stage_count(),
                                        stage_jobs_text(figures, stage.stage)))
             << "\n";
      out_ << headline_text(result, stage, style_) << rates_text(stage)
           << latency_text(figures, stage, style_);
    }
    if (figures.data_ios == 0 && figures.flushes == 0)
      out_ << "\nNo I/O was completed in the measured window.\n";
    out_ << vm_table_text(figures, style_) << cost_text(result, figures, style_)
         << setup_text(result, style_) << errors_text(result, figures, style_)
         << doubts_text(result, style_);
  }

 private:
  std::ostream& out_;
  TextStyle style_;
};

}  // namespace

std::unique_ptr<Writer> make_text_writer(std::ostream& out, const WriterOptions& options) {
  return std::make_unique<TextWriter>(out, options);
}

}  // namespace cephmark
