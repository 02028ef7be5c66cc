#include "job/template.h"

#include <fmt/format.h>

#include <array>

#include "base/spelling.h"

namespace cephmark {

namespace {

constexpr std::string_view kFieldHint =
    "the fields are {{.Name}}, {{.Index}}, {{.Host}} and {{.Pool}}";

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

TemplateResult substitute_template(std::string_view text, const TemplateValues& values) {
  TemplateResult result;
  while (true) {
    const size_t open = text.find("{{");
    result.text += text.substr(0, std::min(open, text.size()));
    if (open == std::string_view::npos) return result;
    const size_t close = text.find("}}", open);
    if (close == std::string_view::npos) {
      result.problem = "\"{{\" without \"}}\"";
      result.hint = kFieldHint;
      return result;
    }
    const std::string_view field = trim(text.substr(open + 2, close - open - 2));
    if (field == ".Name")
      result.text += values.name;
    else if (field == ".Index")
      result.text += std::to_string(values.index);
    else if (field == ".Host")
      result.text += values.host;
    else if (field == ".Pool" && !values.pool.empty())
      result.text += values.pool;
    else if (field == ".Pool") {
      result.problem = "{{.Pool}} is used, but no pool was given";
      result.hint = "give one with --pool, or write the pool here";
      return result;
    } else {
      static const std::array<std::string, 4> kFields = {".Name", ".Index", ".Host", ".Pool"};
      const std::string meant = field.size() > 32 ? "" : closest(field, kFields);
      result.problem = fmt::format("{{{{{}}}}} is not a field of a job template", field);
      result.hint = meant.empty() ? std::string(kFieldHint)
                                  : fmt::format("did you mean {{{{{}}}}}? {}", meant, kFieldHint);
      return result;
    }
    text.remove_prefix(close + 2);
  }
}

}  // namespace cephmark
