// JsonReader: reads one JSON object field by field and refuses what it does not expect. Lives on
// the stack of one call. For documents that come from disk or from another host: every complaint
// names the document and the key.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"

namespace cephmark {

class JsonReader {
 public:
  /// `json` must be an object with exactly `keys` keys (those that the caller goes on to read).
  /// Throws Error.
  JsonReader(const Json& json, std::string what, size_t keys);

  /// A whole number >= 0 (at most `max`). Throws Error.
  uint64_t count(const char* key, uint64_t max = UINT64_MAX) const;
  int64_t nanoseconds(const char* key) const;
  /// A finite number >= 0. Throws Error.
  double number(const char* key) const;
  const Json& array(const char* key) const;

  /// The same for an element that stands in an array. `place` is told in the error.
  uint64_t count_at(const Json& value, const std::string& place, uint64_t max = UINT64_MAX) const;

  /// Throws Error: "<what>: <text>".
  [[noreturn]] void fail(const std::string& text) const;

 private:
  const Json& at(const char* key) const;

  const Json& json_;
  std::string what_;
};

}  // namespace cephmark
