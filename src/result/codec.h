// codec: RunResult <-> JSON, version RunResult::kSchemaVersion; docs/result-schema.json describes
// it. Pure functions. Writing and reading again gives the same RunResult to the last bit. Reading
// is strict: a missing key, an unknown one, a wrong type or an index that points nowhere is an
// Error that names the place.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "result/run_result.h"

namespace cephmark {

/// The document. "summary" (its second key) is derived, for people and for `results list`; reading
/// ignores it.
Json result_to_json(const RunResult& result);

/// As text: one line per top-level key and per VM, never NaN, always valid UTF-8.
std::string result_text(const RunResult& result);

/// `what` names the document in errors.
RunResult result_from_json(const Json& json, const std::string& what);

/// Parses and reads.
RunResult parse_result(std::string_view text, const std::string& what);

}  // namespace cephmark
