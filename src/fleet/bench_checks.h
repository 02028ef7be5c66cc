// bench_checks: what would keep a run on objects from getting anywhere, found out before it: a pool
// that is full or has placement groups that do not serve, a key that may not, and how much can be
// written until the cluster is nearly full. Asks; the only thing sent to the pool is the removal of
// an object that is not there. Blocks; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "ceph/cluster.h"

namespace cephmark {

/// Why no I/O of that kind would come back, or "". `osd_dump` and `health` are what `ceph osd dump`
/// and `ceph health detail` say. Pure.
std::string pool_obstacle(const Json& osd_dump, const Json& health, const std::string& pool,
                          bool writes);

/// Throws Error (with that obstacle) where the pool does not serve. A key that may not ask finds
/// out later.
void check_pool_serves(Cluster& cluster, const std::string& pool, bool writes);

/// The pool's answer to a write.
class PoolRefusal : public Error {
 public:
  PoolRefusal(const std::string& message, int error, std::string hint = "")
      : Error(message, std::move(hint)), error_(error) {}
  int error() const { return error_; }  ///< positive

 private:
  int error_;
};

/// Throws PoolRefusal when the key may not write: asked with the removal of `absent`, a name that
/// nothing has.
void check_may_write(Cluster& cluster, const IoContext& io, const std::string& pool,
                     const std::string& absent);

/// How much a run may write: until the cluster would be nearly full, less a margin for what the
/// monitors have not counted yet. Nothing where the key may not ask. Throws Error when there is no
/// room at all.
struct WritableSpace {
  uint64_t bytes = 0;
  PoolSpace space;
};
std::optional<WritableSpace> writable_space(Cluster& cluster, const std::string& pool);

}  // namespace cephmark
