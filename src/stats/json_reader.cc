#include "stats/json_reader.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace cephmark {

JsonReader::JsonReader(const Json& json, std::string what, size_t keys)
    : json_(json), what_(std::move(what)) {
  if (!json_.is_object()) fail("is not an object");
  if (json_.size() != keys) fail(fmt::format("has {} keys, not {}", json_.size(), keys));
}

void JsonReader::fail(const std::string& text) const {
  throw Error(fmt::format("{}: {}", what_, text),
              "the document is damaged or was not written by cephmark");
}

const Json& JsonReader::at(const char* key) const {
  const auto found = json_.find(key);
  if (found == json_.end()) fail(fmt::format("the key \"{}\" is missing", key));
  return *found;
}

uint64_t JsonReader::count_at(const Json& value, const std::string& place, uint64_t max) const {
  if (!value.is_number_integer()) fail(fmt::format("{} is not a whole number", place));
  if (!value.is_number_unsigned() && value.get<int64_t>() < 0)
    fail(fmt::format("{} is negative ({})", place, value.get<int64_t>()));
  const uint64_t number = value.get<uint64_t>();
  if (number > max) fail(fmt::format("{} is {}, more than the {} it may be", place, number, max));
  return number;
}

uint64_t JsonReader::count(const char* key, uint64_t max) const {
  return count_at(at(key), fmt::format("\"{}\"", key), max);
}

int64_t JsonReader::nanoseconds(const char* key) const {
  return static_cast<int64_t>(count(key, INT64_MAX));
}

double JsonReader::number(const char* key) const {
  const Json& value = at(key);
  if (!value.is_number()) fail(fmt::format("\"{}\" is not a number", key));
  const double number = value.get<double>();
  if (!std::isfinite(number) || number < 0)
    fail(fmt::format("\"{}\" is not a finite number of at least 0", key));
  return number;
}

const Json& JsonReader::array(const char* key) const {
  const Json& value = at(key);
  if (!value.is_array()) fail(fmt::format("\"{}\" is not an array", key));
  return value;
}

}  // namespace cephmark
