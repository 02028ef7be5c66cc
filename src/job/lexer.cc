#include "job/lexer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "job/numbers.h"
#include "job/text_rules.h"

namespace cephmark {

namespace {

constexpr size_t kMaxFileBytes =
    4u << 20;                           ///< of one text; a fleet's template has a few hundred bytes
constexpr size_t kMaxLineBytes = 4095;  ///< fio's own limit
constexpr size_t kMaxSectionName = 255;  ///< fio's own limit
constexpr int kMaxIncludeDepth = 8;
constexpr int kMaxIncludes = 64;
constexpr std::array<std::string_view, 3> kKeywords = {"$ncpus", "$pagesize", "$mb_memory"};

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

std::shared_ptr<const SourceFile> split_lines(std::string_view text, const std::string& name) {
  auto file = std::make_shared<SourceFile>();
  file->name = name;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    file->lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return file;
}

class Lexer {
 public:
  Lexer(const SourceAccess& access, Diagnostics& diagnostics)
      : access_(access), diagnostics_(diagnostics) {}

  void read(std::string_view text, const std::string& name, int depth);
  std::vector<RawSection> take() { return std::move(sections_); }

 private:
  void read_line(const std::shared_ptr<const SourceFile>& file, int number, int depth);
  void open_section(std::string_view line, const SourcePosition& where, int depth);
  void read_option(std::string_view line, SourcePosition where, char cut_by, bool has_comment);
  void include(std::string path, const SourcePosition& where, int depth);
  bool substitute(std::string& text, const SourcePosition& where);
  bool substitute_variables(std::string& text, const SourcePosition& where);
  bool substitute_keywords(std::string& text, const SourcePosition& where);

  const SourceAccess& access_;
  Diagnostics& diagnostics_;
  std::vector<RawSection> sections_;
  int includes_ = 0;
};

void Lexer::read(std::string_view text, const std::string& name, int depth) {
  if (text.size() > kMaxFileBytes) {
    auto file = std::make_shared<SourceFile>();
    file->name = name;
    diagnostics_.error({file}, fmt::format("larger than {} bytes: not a job file", kMaxFileBytes));
    return;
  }
  if (text.substr(0, 3) == "\xEF\xBB\xBF")
    text.remove_prefix(3);  // byte order mark of Windows editors
  const auto file = split_lines(text, name);
  for (size_t i = 0; i < file->lines.size(); ++i) read_line(file, static_cast<int>(i) + 1, depth);
}

void Lexer::read_line(const std::shared_ptr<const SourceFile>& file, int number, int depth) {
  std::string_view line = file->lines[number - 1];
  if (line.size() > kMaxLineBytes) {
    diagnostics_.error({file, number, static_cast<int>(kMaxLineBytes) + 1, 1},
                       fmt::format("the line has {} bytes; the longest that fio reads has {}",
                                   line.size(), kMaxLineBytes));
    return;
  }
  size_t start = 0;
  while (start < line.size() && is_blank(line[start])) ++start;
  if (start == line.size() || line[start] == '#' || line[start] == ';') return;
  // fio cuts at the first ';' and then at the first '#', quotes or not.
  const size_t comment = std::min(line.find_first_of("#;", start), line.size());
  const bool has_comment = comment < line.size();
  const char cut_by = has_comment && !is_blank(line[comment - 1]) ? line[comment] : '\0';
  size_t end = comment;
  while (end > start && is_blank(line[end - 1])) --end;
  const std::string_view body = line.substr(start, end - start);
  // Names and descriptions stand in reports: what a terminal would obey has no place there.
  const size_t bad = plain_text_length(body);
  if (bad < body.size()) {
    const auto byte = static_cast<unsigned char>(body[bad]);
    diagnostics_.error({file, number, static_cast<int>(start + bad) + 1, 1},
                       byte == 0 ? "a NUL byte: not a text file?"
                       : byte == 0xC2 && bad + 1 < body.size()
                           ? "a control character (U+0080 to U+009F)"
                       : byte >= 0x80 ? "not valid UTF-8"
                                      : fmt::format("a control character (0x{:02x})", byte));
    // The options below a broken name still belong to a section.
    if (body.front() == '[')
      open_section("[?]", {file, number, static_cast<int>(start) + 1, 1}, depth);
    return;
  }
  const SourcePosition where{file, number, static_cast<int>(start) + 1,
                             static_cast<int>(body.size())};
  if (body.front() == '[') {
    open_section(body, where, depth);
  } else if (body.substr(0, 8) == "include " || body.substr(0, 8) == "include\t") {
    std::string path(body.substr(8));
    path.erase(0, std::min(path.find_first_not_of(" \t"), path.size()));
    include(std::move(path), where, depth);
  } else {
    read_option(body, where, cut_by, has_comment);
  }
}

void Lexer::open_section(std::string_view line, const SourcePosition& where, int depth) {
  if (depth > 0) {
    diagnostics_.error(where, "a section inside an included file",
                       "fio allows only options there; put the section into the job file itself");
    return;
  }
  // fio takes the text behind '[' and drops its last character, whatever that is.
  std::string name(line.substr(1, line.size() > 1 ? line.size() - 2 : 0));
  if (line.back() != ']' || line.size() == 1) {
    diagnostics_.warn(where,
                      fmt::format("the section does not end with ']': fio drops its last "
                                  "character and calls the job \"{}\"",
                                  name),
                      "close the name with ']'");
  } else if (name.empty()) {
    diagnostics_.warn(where, "the section has no name", "write [NAME]");
  }
  if (name.size() > kMaxSectionName) {
    diagnostics_.error(
        where, fmt::format("the name has {} bytes; the longest that fio reads has {}", name.size(),
                           kMaxSectionName));
    name.resize(kMaxSectionName);
  }
  RawSection section;
  section.is_global = name.rfind("global", 0) == 0;
  section.name = std::move(name);
  section.where = where;
  sections_.push_back(std::move(section));
}

void Lexer::read_option(std::string_view line, SourcePosition where, char cut_by,
                        bool has_comment) {
  if (sections_.empty()) {
    diagnostics_.error(where,
                       fmt::format("the option \"{}\" stands before the first [section]", line),
                       "options belong to a job: write [global] or [NAME] above it");
    return;
  }
  RawOption option;
  const size_t equals = line.find('=');
  size_t name_end = std::min(equals, line.size());
  while (name_end > 0 && is_blank(line[name_end - 1])) --name_end;
  option.name = line.substr(0, name_end);
  where.length = std::max<int>(1, static_cast<int>(name_end));
  option.where = option.value_where = where;
  option.cut_by = cut_by;
  option.has_comment = has_comment;
  if (equals != std::string_view::npos) {
    option.has_value = true;
    option.value =
        line.substr(equals + 1);  // blanks in front are part of it in fio: "bs = 8k" is 8
    option.value_where.column += static_cast<int>(equals) + 1;
    option.value_where.length = std::max<int>(1, static_cast<int>(option.value.size()));
    if (!substitute(option.value, option.value_where)) return;
  }
  if (!substitute_variables(option.name, where)) return;
  if (option.name.empty()) {
    diagnostics_.error(where, "a value without an option in front of '='");
    return;
  }
  sections_.back().options.push_back(std::move(option));
}

bool Lexer::substitute(std::string& text, const SourcePosition& where) {
  return substitute_variables(text, where) && substitute_keywords(text, where);
}

bool Lexer::substitute_variables(std::string& text, const SourcePosition& where) {
  if (text.find("${") == std::string::npos) return true;
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    const size_t open = text.find("${", at);
    const size_t close = open == std::string::npos ? open : text.find('}', open);
    if (close == std::string::npos) break;
    const std::string name = text.substr(open + 2, close - open - 2);
    const auto value = access_.variable(name);
    SourcePosition place = where;
    place.column += static_cast<int>(open);
    place.length = static_cast<int>(close - open + 1);
    if (!value) {
      diagnostics_.error(
          place, fmt::format("the environment variable {} is not set", name),
          "fio would put nothing in its place and go on with what is left; set it, or "
          "write the value here");
      return false;
    }
    out.append(text, at, open - at);
    out += *value;
    at = close + 1;
    if (out.size() > kMaxLineBytes) break;
  }
  out.append(text, at, std::string::npos);
  if (out.size() > kMaxLineBytes || plain_text_length(out) != out.size()) {
    diagnostics_.error(where,
                       "with its variables put in, the value is too long or not one line of text");
    return false;
  }
  text = std::move(out);
  return true;
}

bool Lexer::substitute_keywords(std::string& text, const SourcePosition& where) {
  bool found = false;
  for (const std::string_view keyword : kKeywords) {
    for (size_t at = text.find(keyword); at != std::string::npos; at = text.find(keyword, at)) {
      const auto value = access_.keyword(keyword.substr(1));
      if (!value) {
        diagnostics_.error(where, fmt::format("the value of {} is not known here", keyword));
        return false;
      }
      text.replace(at, keyword.size(), std::to_string(*value));
      found = true;
    }
  }
  // fio hands the value to bc when a keyword stood in it and it has an operator.
  if (!found || text.find_first_of("+-*/") == std::string::npos) return true;
  const auto value = evaluate_arithmetic(text);
  if (!value) {
    diagnostics_.error(where, fmt::format("cannot calculate \"{}\"", text),
                       "whole numbers, + - * / % and brackets are understood, without units");
    return false;
  }
  text = std::to_string(*value);
  return true;
}

void Lexer::include(std::string path, const SourcePosition& where, int depth) {
  if (sections_.empty()) {
    diagnostics_.error(where, "include before the first [section]",
                       "the included options belong to a job: write [global] or [NAME] above it");
    return;
  }
  if (!substitute_variables(path, where)) return;
  if (depth >= kMaxIncludeDepth || ++includes_ > kMaxIncludes) {
    diagnostics_.error(where,
                       fmt::format("include nests deeper than {} files or names more than {}",
                                   kMaxIncludeDepth, kMaxIncludes),
                       "does a file include itself?");
    return;
  }
  auto text = access_.read_file(path);
  if (!text && !path.empty() && path.front() != '/') {
    const std::string folder = folder_of(where.file->name);
    if (!folder.empty()) {
      path = folder + "/" + path;
      text = access_.read_file(path);
    }
  }
  if (!text) {
    diagnostics_.error(where, fmt::format("cannot read the included file \"{}\"", path),
                       "it is looked for in the working directory, then beside the including file");
    return;
  }
  read(*text, path, depth + 1);
}

}  // namespace

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, std::max<size_t>(slash, 1));
}

SourceAccess SourceAccess::real() {
  SourceAccess access;
  access.read_file = [](const std::string& path) -> std::optional<std::string> {
    std::ifstream in(path, std::ios::binary);
    if (!in) return std::nullopt;
    std::string text(kMaxFileBytes + 1, '\0');  // one more than allowed: the lexer then says so
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (in.bad()) return std::nullopt;
    text.resize(static_cast<size_t>(in.gcount()));
    return text;
  };
  access.variable = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (!value) return std::nullopt;
    return value;
  };
  access.keyword = [](std::string_view keyword) -> std::optional<long long> {
    if (keyword == "ncpus") return std::max(1u, std::thread::hardware_concurrency());
    if (keyword == "pagesize") return sysconf(_SC_PAGESIZE);
    if (keyword == "mb_memory")
      return static_cast<long long>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE) / (1 << 20);
    return std::nullopt;
  };
  return access;
}

SourceAccess SourceAccess::none() {
  SourceAccess access;
  access.read_file = [](const std::string&) { return std::nullopt; };
  access.variable = [](const std::string&) { return std::nullopt; };
  access.keyword = [](std::string_view keyword) -> std::optional<long long> {
    return keyword == "ncpus" ? 1 : keyword == "pagesize" ? 4096 : 1024;
  };
  return access;
}

std::vector<RawSection> lex_job_file(std::string_view text, const std::string& name,
                                     const SourceAccess& access, Diagnostics& diagnostics) {
  Lexer lexer(access, diagnostics);
  lexer.read(text, name, 0);
  return lexer.take();
}

}  // namespace cephmark
