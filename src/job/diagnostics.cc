#include "job/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/error.h"
#include "job/text_rules.h"

namespace cephmark {

namespace {

constexpr size_t kShownColumns = 100;  ///< of a source line; longer ones are cut around the caret

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

/// Nothing that could steer a terminal or is no text; tabs become one blank so that the caret
/// stands right.
std::string printable(std::string text) {
  std::replace(text.begin(), text.end(), '\t', ' ');
  for (size_t at = 0; (at += plain_text_length(std::string_view(text).substr(at))) < text.size();)
    text[at++] = '?';
  return text;
}

std::string excerpt(const SourcePosition& where) {
  const auto& lines = where.file->lines;
  if (where.line < 1 || static_cast<size_t>(where.line) > lines.size()) return "";
  std::string_view line = lines[where.line - 1];
  size_t caret = where.column > 0 ? where.column - 1 : 0;
  caret = std::min(caret, line.size());
  std::string_view before_mark, after_mark;
  if (line.size() > kShownColumns) {
    size_t begin = caret > kShownColumns / 2 ? caret - kShownColumns / 2 : 0;
    while (begin > 0 && is_continuation(line[begin])) --begin;
    size_t end = std::min(line.size(), begin + kShownColumns);
    while (end < line.size() && is_continuation(line[end])) ++end;
    if (begin > 0) before_mark = "...";
    if (end < line.size()) after_mark = "...";
    line = line.substr(begin, end - begin);
    caret -= begin;
  }
  size_t pad = before_mark.size();
  for (size_t i = 0; i < caret; ++i) pad += is_continuation(line[i]) ? 0 : 1;
  size_t marked = 0;
  for (size_t i = caret; i < line.size() && i < caret + std::max(where.length, 1); ++i)
    marked += is_continuation(line[i]) ? 0 : 1;
  return fmt::format("    {}{}{}\n    {}{}\n", before_mark, printable(std::string(line)),
                     after_mark, std::string(pad, ' '),
                     "^" + std::string(marked > 1 ? marked - 1 : 0, '~'));
}

}  // namespace

std::string SourcePosition::text() const {
  std::string name = file ? file->name : "job file";
  if (line < 1) return name;
  return column < 1 ? fmt::format("{}:{}", name, line)
                    : fmt::format("{}:{}:{}", name, line, column);
}

std::string SourcePosition::line_text() const {
  const std::string name = file ? file->name : "job file";
  return line < 1 ? name : fmt::format("{}:{}", name, line);
}

void Diagnostics::add(Severity severity, const SourcePosition& where, std::string message,
                      std::string hint) {
  const bool is_error = severity == Severity::kError;
  if (kept_.size() < kMaxKept) {
    std::string key = fmt::format("{}|{}|{}", is_error, where.text(), message);
    if (!seen_.insert(std::move(key)).second) return;
    kept_.push_back({severity, where, printable(std::move(message)), printable(std::move(hint))});
  }
  ++(is_error ? error_count_ : warning_count_);
}

void Diagnostics::error(const SourcePosition& where, std::string message, std::string hint) {
  add(Severity::kError, where, std::move(message), std::move(hint));
}

void Diagnostics::warn(const SourcePosition& where, std::string message, std::string hint) {
  add(Severity::kWarning, where, std::move(message), std::move(hint));
}

void Diagnostics::warn_once(std::string_view kind, const SourcePosition& where, std::string message,
                            std::string hint) {
  if (kinds_.emplace(kind).second) warn(where, std::move(message), std::move(hint));
}

bool Diagnostics::has_error_in_line_of(const SourcePosition& where) const {
  return std::any_of(kept_.begin(), kept_.end(), [&](const Diagnostic& diagnostic) {
    return diagnostic.severity == Severity::kError && diagnostic.where.file == where.file &&
           diagnostic.where.line == where.line;
  });
}

std::string Diagnostics::render(Severity severity) const {
  std::vector<const Diagnostic*> chosen;
  for (const auto& diagnostic : kept_)
    if (diagnostic.severity == severity) chosen.push_back(&diagnostic);
  std::stable_sort(chosen.begin(), chosen.end(), [](const Diagnostic* a, const Diagnostic* b) {
    return a->where.file == b->where.file &&
           std::tie(a->where.line, a->where.column) < std::tie(b->where.line, b->where.column);
  });
  const bool is_error = severity == Severity::kError;
  std::string out;
  for (const Diagnostic* diagnostic : chosen) {
    out += fmt::format("{}: {}: {}\n", diagnostic->where.text(), is_error ? "error" : "warning",
                       diagnostic->message);
    if (diagnostic->where.file) out += excerpt(diagnostic->where);
    if (!diagnostic->hint.empty()) out += fmt::format("    {}\n", diagnostic->hint);
  }
  const size_t count = is_error ? error_count_ : warning_count_;
  if (count > chosen.size())
    out += fmt::format("and {} more {}\n", count - chosen.size(), is_error ? "errors" : "warnings");
  return out;
}

std::vector<std::string> Diagnostics::warning_lines() const {
  std::vector<std::string> lines;
  for (const auto& diagnostic : kept_) {
    if (diagnostic.severity != Severity::kWarning) continue;
    std::string line = fmt::format("{}: {}", diagnostic.where.line_text(), diagnostic.message);
    if (!diagnostic.hint.empty()) line += fmt::format(" ({})", diagnostic.hint);
    lines.push_back(std::move(line));
  }
  return lines;
}

void Diagnostics::throw_if_errors() const {
  if (ok()) return;
  // What fio reads in another way than people mean is often why the rest is wrong.
  std::string text = render(Severity::kError) + render(Severity::kWarning);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  throw UsageError(text);
}

}  // namespace cephmark
