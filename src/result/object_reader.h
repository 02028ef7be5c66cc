// ObjectReader: reads one JSON object strictly: every key must be there, of its type, and none
// besides. Lives on the stack while one object is read; every complaint names the document and the
// path in it.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"

namespace cephmark {

class ObjectReader {
 public:
  /// Throws Error unless `json` is an object. `where` is the document and the path: "x.json:
  /// vms[3]".
  ObjectReader(const Json& json, std::string where);

  const Json& at(const std::string& key);    ///< any type; throws Error when absent
  const Json* find(const std::string& key);  ///< null when absent or null
  std::string text(const std::string& key);
  bool boolean(const std::string& key);
  uint64_t count(const std::string& key, uint64_t max = std::numeric_limits<uint64_t>::max());
  int64_t integer(const std::string& key, int64_t min = std::numeric_limits<int64_t>::min(),
                  int64_t max = std::numeric_limits<int64_t>::max());
  const Json& array(const std::string& key);
  std::map<std::string, std::string> texts(const std::string& key);
  std::vector<std::string> text_list(const std::string& key);
  std::string path(const std::string& key) const { return where_ + "." + key; }

  /// Throws Error when the object has keys that nobody asked for.
  void done() const;
  [[noreturn]] void fail(const std::string& key, const std::string& expected) const;

 private:
  const Json& json_;
  std::string where_;
  std::set<std::string> used_;
};

}  // namespace cephmark
