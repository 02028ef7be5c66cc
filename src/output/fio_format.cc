#include "output/fio_format.h"

#include <fmt/format.h>

namespace cephmark {
namespace {

void append_string(std::string& out, const std::string& text) {
  // Control characters, which fio would print raw, would make the document invalid.
  out += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void append(std::string& out, const Json& value, size_t indent) {
  const std::string inner(indent + 2, ' '), outer(indent, ' ');
  if (value.is_object()) {
    out += "{\n";
    size_t left = value.size();
    for (const auto& [key, item] : value.items()) {
      out += inner;
      append_string(out, key);
      out += " : ";
      append(out, item, indent + 2);
      out += --left ? ",\n" : "\n";
    }
    out += outer + "}";
  } else if (value.is_array()) {
    out += "[\n";
    size_t left = value.size();
    for (const auto& item : value) {
      out += inner;
      append(out, item, indent + 2);
      out += --left ? ",\n" : "\n";
    }
    out += outer + "]";
  } else if (value.is_number_float()) {
    out += fmt::format("{:.6f}", value.get<double>());
  } else if (value.is_string()) {
    append_string(out, value.get<std::string>());
  } else {
    out += value.dump();
  }
}

}  // namespace

std::string fio_format(const Json& document) {
  std::string out;
  append(out, document, 0);
  return out + "\n";
}

}  // namespace cephmark
