// template: {{.Name}}, {{.Index}}, {{.Host}}, {{.Pool}} in section names and option values. Pure
// functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cephmark {

/// What one VM puts into a job template.
struct TemplateValues {
  std::string name;  ///< {{.Name}}: "HOST-0"
  int index = 0;     ///< {{.Index}}
  std::string host;  ///< {{.Host}}
  std::string pool;  ///< {{.Pool}}; empty: none given, and using it is a mistake
};

/// Whether `text` has a field in it.
inline bool has_template(std::string_view text) {
  return text.find("{{") != std::string_view::npos;
}

struct TemplateResult {
  std::string text;
  std::string problem;  ///< what is wrong; empty: nothing
  std::string hint;
};

TemplateResult substitute_template(std::string_view text, const TemplateValues& values);

}  // namespace cephmark
