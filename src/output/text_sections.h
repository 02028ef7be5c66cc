// The sections of the text report, one function each: from figures to lines. Pure functions.
#pragma once

#include <string>

#include "output/writer.h"
#include "result/figures.h"

namespace cephmark {

/// Colours, where they are wanted, and the width.
class TextStyle {
 public:
  explicit TextStyle(const WriterOptions& options)
      : colour_(options.colour), columns_(options.columns < 60 ? 60 : options.columns) {}
  size_t columns() const { return columns_; }
  std::string bold(const std::string& text) const { return paint("1", text); }
  std::string alert(const std::string& text) const { return paint("1;31", text); }
  std::string dim(const std::string& text) const { return paint("2", text); }

 private:
  std::string paint(const char* code, const std::string& text) const {
    return colour_ ? "\033[" + std::string(code) + "m" + text + "\033[0m" : text;
  }
  bool colour_;
  size_t columns_;
};

std::string title_text(const RunResult& result, const RunFigures& figures, const TextStyle& style);
/// "randrw 4 KiB depth 8 (randrw)": the different jobs of one stage.
std::string stage_jobs_text(const RunFigures& figures, int stage);
std::string headline_text(const RunResult& result, const StageFigures& stage,
                          const TextStyle& style);
std::string rates_text(const StageFigures& stage);
std::string latency_text(const RunFigures& figures, const StageFigures& stage,
                         const TextStyle& style);
std::string vm_table_text(const RunFigures& figures, const TextStyle& style);
std::string cost_text(const RunResult& result, const RunFigures& figures, const TextStyle& style);
std::string setup_text(const RunResult& result, const TextStyle& style);
std::string errors_text(const RunResult& result, const RunFigures& figures, const TextStyle& style);
std::string doubts_text(const RunResult& result, const TextStyle& style);

}  // namespace cephmark
