#include "base/json.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "base/error.h"

namespace cephmark {

Json parse_json(std::string_view text, std::string_view what) {
  std::vector<std::set<std::string>> keys;
  std::string duplicate;
  const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
      duplicate = parsed.get<std::string>();
    return true;
  };
  try {
    Json document = Json::parse(text.begin(), text.end(), watch);
    if (!duplicate.empty())
      throw Error(fmt::format("{}: the key \"{}\" stands twice in one object", what, duplicate));
    return document;
  } catch (const Json::exception& error) {
    throw Error(fmt::format("{}: not valid JSON: {}", what, error.what()));
  }
}

}  // namespace cephmark
