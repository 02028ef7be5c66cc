// Json: the one JSON type (insertion order kept), read strictly: duplicate keys, NaN and trailing
// text are errors.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace cephmark {

using Json = nlohmann::ordered_json;

/// Parses a whole document. `what` names it in the error ("results/x.json"). Throws Error.
Json parse_json(std::string_view text, std::string_view what);

}  // namespace cephmark
