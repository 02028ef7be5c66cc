#include "ceph/object_name.h"

#include <fmt/format.h>

#include "base/error.h"

namespace cephmark {

std::string ObjectName::text() const {
  if (rados_namespace.empty() && object.find('/') == std::string::npos) return pool + "/" + object;
  return pool + "/" + rados_namespace + "/" + object;
}

ObjectName parse_object_name(const std::string& text) {
  const size_t first = text.find('/');
  const size_t second = first == std::string::npos ? first : text.find('/', first + 1);
  ObjectName name;
  name.pool = text.substr(0, first);
  if (second == std::string::npos)
    name.object = first == std::string::npos ? "" : text.substr(first + 1);
  else {
    name.rados_namespace = text.substr(first + 1, second - first - 1);
    name.object = text.substr(second + 1);
  }
  if (name.pool.empty() || name.object.empty())
    throw Error(fmt::format("'{}' is not the name of an object", text), "POOL/[NAMESPACE/]OBJECT");
  return name;
}

}  // namespace cephmark
