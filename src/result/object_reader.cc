#include "result/object_reader.h"

#include <fmt/format.h>

#include "base/error.h"

namespace cephmark {

ObjectReader::ObjectReader(const Json& json, std::string where)
    : json_(json), where_(std::move(where)) {
  if (!json.is_object()) throw Error(fmt::format("{}: must be an object", where_));
}

void ObjectReader::fail(const std::string& key, const std::string& expected) const {
  throw Error(fmt::format("{}.{}: {}", where_, key, expected));
}

const Json& ObjectReader::at(const std::string& key) {
  used_.insert(key);
  const auto it = json_.find(key);
  if (it == json_.end()) fail(key, "is missing");
  return *it;
}

const Json* ObjectReader::find(const std::string& key) {
  used_.insert(key);
  const auto it = json_.find(key);
  return it == json_.end() || it->is_null() ? nullptr : &*it;
}

std::string ObjectReader::text(const std::string& key) {
  const Json& value = at(key);
  if (!value.is_string()) fail(key, "must be a string");
  return value.get<std::string>();
}

bool ObjectReader::boolean(const std::string& key) {
  const Json& value = at(key);
  if (!value.is_boolean()) fail(key, "must be true or false");
  return value.get<bool>();
}

uint64_t ObjectReader::count(const std::string& key, uint64_t max) {
  const Json& value = at(key);
  if (!value.is_number_integer() || (!value.is_number_unsigned() && value.get<int64_t>() < 0))
    fail(key, "must be a whole number, 0 or more");
  if (value.get<uint64_t>() > max) fail(key, fmt::format("must be at most {}", max));
  return value.get<uint64_t>();
}

int64_t ObjectReader::integer(const std::string& key, int64_t min, int64_t max) {
  const Json& value = at(key);
  if (!value.is_number_integer()) fail(key, "must be a whole number");
  if (value.is_number_unsigned() &&
      value.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    fail(key, "is too large");
  const int64_t number = value.get<int64_t>();
  if (number < min || number > max) fail(key, fmt::format("must be from {} to {}", min, max));
  return number;
}

const Json& ObjectReader::array(const std::string& key) {
  const Json& value = at(key);
  if (!value.is_array()) fail(key, "must be an array");
  return value;
}

std::map<std::string, std::string> ObjectReader::texts(const std::string& key) {
  const Json& value = at(key);
  if (!value.is_object()) fail(key, "must be an object of strings");
  std::map<std::string, std::string> all;
  for (const auto& [name, text] : value.items()) {
    if (!text.is_string()) fail(key + "." + name, "must be a string");
    all[name] = text.get<std::string>();
  }
  return all;
}

std::vector<std::string> ObjectReader::text_list(const std::string& key) {
  std::vector<std::string> all;
  for (const Json& text : array(key)) {
    if (!text.is_string()) fail(key, "must be an array of strings");
    all.push_back(text.get<std::string>());
  }
  return all;
}

void ObjectReader::done() const {
  for (const auto& [key, value] : json_.items())
    if (!used_.count(key)) throw Error(fmt::format("{}.{}: is not a known key", where_, key));
}

}  // namespace cephmark
