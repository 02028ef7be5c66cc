#include "output/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/units.h"

namespace cephmark {
namespace {

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

/// How many characters, not bytes, valid UTF-8 has; what each takes on a terminal, wide ones aside.
size_t character_count(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

std::string_view first_characters(std::string_view text, size_t count) {
  size_t end = 0;
  for (; end < text.size(); ++end)
    if (!is_continuation(text[end]) && count-- == 0) break;
  return text.substr(0, end);
}

}  // namespace

std::string fixed_text(double value) {
  if (value < 99.995) return fmt::format("{:.2f}", value);
  if (value < 999.95) return fmt::format("{:.1f}", value);
  return format_count(static_cast<uint64_t>(std::llround(value)));
}

std::string iops_text(double iops) {
  return fixed_text(iops);
}
std::string mib_text(double bytes_per_s) {
  return fixed_text(bytes_per_s / kMiB);
}
std::string mb_text(double bytes_per_s) {
  return fixed_text(bytes_per_s / 1e6);
}

std::string quantile_text(const Histogram& histogram, double q) {
  if (histogram.empty()) return "-";
  return fmt::format("{}{}{}", histogram.quantile_is_floor(q) ? ">=" : "",
                     format_duration(histogram.quantile_ns(q)),
                     samples_beyond(histogram, q) < kFewSamples ? "*" : "");
}

std::string mean_text(const Histogram& histogram) {
  return histogram.empty() ? "-" : format_duration(std::llround(histogram.mean_ns()));
}

std::string max_text(const Histogram& histogram) {
  return histogram.empty() ? "-" : format_duration(histogram.max_ns());
}

std::vector<std::string> latency_text_cells(const Histogram& histogram) {
  std::vector<std::string> cells = {mean_text(histogram)};
  for (const double q : {0.5, 0.9, 0.99, 0.999, 0.9999})
    cells.push_back(quantile_text(histogram, q));
  cells.push_back(max_text(histogram));
  return cells;
}

bool has_marked_cell(const Histogram& histogram) {
  return !histogram.empty() && samples_beyond(histogram, 0.9999) < kFewSamples;
}

std::string error_codes_text(const std::map<int, uint64_t>& errors) {
  std::string text;
  for (const auto& [code, count] : errors) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", errno_name(code), format_count(count));
  }
  return text;
}

std::string failures_text(const RunResult& result, const RunFigures& figures) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const auto& job : figures.jobs) {
    const std::string& why = job.result->failure;
    if (why.empty() || why == result.error) continue;
    auto it = std::find_if(reasons.begin(), reasons.end(),
                           [&](const auto& one) { return one.first == why; });
    if (it == reasons.end()) it = reasons.insert(reasons.end(), {why, {}});
    it->second.push_back(fmt::format("{} {}", job.vm_plan->name, job.spec->name));
  }
  constexpr size_t kShown = 3;
  std::string text;
  for (size_t i = 0; i < std::min(kShown, reasons.size()); ++i) {
    const auto& [why, who] = reasons[i];
    text += fmt::format("{}{}{} did not run: {}", i ? "; " : "", who.front(),
                        who.size() > 1 ? fmt::format(" and {} more", who.size() - 1) : "", why);
  }
  if (reasons.size() > kShown)
    text += fmt::format("; and {} more reasons (--output json)", reasons.size() - kShown);
  return text;
}

std::string shorten(std::string_view text, size_t width) {
  const size_t length = character_count(text);
  if (length <= width) return std::string(text);
  if (width < 5) return std::string(first_characters(text, width));
  const size_t tail = (width - 2) / 2, head = width - 2 - tail;
  return fmt::format("{}..{}", first_characters(text, head),
                     text.substr(first_characters(text, length - tail).size()));
}

std::string wrap(std::string_view text, size_t columns, size_t indent) {
  const size_t lead = std::min(text.find_first_not_of(' '), text.size());
  std::string out(lead, ' ');
  text.remove_prefix(lead);
  size_t used = 0;  // of this line, the leading blanks counted with its first word
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (word.empty()) continue;
    if (used > 0 && used + 1 + word.size() > columns) {
      out += "\n" + std::string(indent, ' ');
      used = indent;  // the next blank is not printed: the indent stands for it
    } else if (used > 0) {
      out += ' ';
      ++used;
    }
    out += word;
    used = used == 0 ? lead + word.size() : used + word.size();
  }
  return out;
}

std::string TextTable::text(size_t indent, size_t gap) const {
  std::vector<size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], character_count(row[i]));
  }
  std::string out;
  for (const auto& row : rows_) {
    std::string line(indent, ' ');
    for (size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += std::string(gap, ' ');
      const std::string blanks(widths[i] - character_count(row[i]), ' ');
      line += i < left_ ? row[i] + blanks : blanks + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace cephmark
