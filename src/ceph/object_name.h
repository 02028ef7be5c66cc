// ObjectName: where a RADOS object is, and how that is written in messages, in manifests and behind
// --allow-write. Plain data; pure functions, any thread.
#pragma once

#include <string>

namespace cephmark {

struct ObjectName {
  std::string pool, rados_namespace, object;

  /// "pool/object" or "pool/namespace/object"; "pool//object" when the object's own name has a '/'.
  std::string text() const;
};

/// Reads what text() wrote. Throws Error for what is none.
ObjectName parse_object_name(const std::string& text);

}  // namespace cephmark
