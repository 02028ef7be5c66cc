// Cells: how numbers look in text, and a table of columns. Pure functions and a plain object of one
// thread. What is not known is "-"; nothing is ever shown by a number that stands for "none".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "result/figures.h"

namespace cephmark {

/// "21,772", "512.3", "4.25": whole from 1,000 on.
std::string iops_text(double iops);
/// Bytes per second as MiB/s ("85.0") and as MB/s: two decimals below 100, one below 1,000, then
/// none.
std::string mib_text(double bytes_per_s);
std::string mb_text(double bytes_per_s);
std::string fixed_text(double value);
/// "11.0 ms*": the star when fewer than 100 samples lie beyond, ">=" when above the range, "-" when
/// empty.
std::string quantile_text(const Histogram& histogram, double q);
std::string mean_text(const Histogram& histogram);
std::string max_text(const Histogram& histogram);
/// Mean, p50, p90, p99, p99.9, p99.99 and max, a cell each.
std::vector<std::string> latency_text_cells(const Histogram& histogram);
/// One of latency_text_cells() has the star, which this explains.
bool has_marked_cell(const Histogram& histogram);
inline constexpr std::string_view kFewSamplesNote =
    "* fewer than 100 samples lie beyond this percentile: it can move a lot between runs";
/// "EIO 10, ENOSPC 2".
std::string error_codes_text(const std::map<int, uint64_t>& errors);
/// "node-0 randrw and 3 more did not run: why", at most three of the reasons; "" when every job
/// ran, or when the only reason is RunResult::error, which has been told.
std::string failures_text(const RunResult& result, const RunFigures& figures);
/// At most `width` characters of UTF-8; what is cut from the middle is replaced by "..".
std::string shorten(std::string_view text, size_t width);
/// Breaks at blanks so that no line is longer than `columns`; every line after the first starts
/// with `indent` blanks.
std::string wrap(std::string_view text, size_t columns, size_t indent);

/// Columns as wide as their widest cell, two blanks between; the first `left` columns are
/// left-aligned.
class TextTable {
 public:
  TextTable(std::vector<std::string> headings, size_t left) : left_(left) {
    add(std::move(headings));
  }
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string text(size_t indent = 0, size_t gap = 2) const;

 private:
  size_t left_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace cephmark
