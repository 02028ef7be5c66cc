// ObjectSet: the objects that a rados job works on: named, looked at, written in full before they
// are read, removed again. Owned by the rados engine; set-up and tear-down threads only. Every wait
// has a limit on time without progress.
#pragma once

#include <rados/librados.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ceph/connection.h"

namespace cephmark {

struct ObjectState {
  std::string name;
  uint64_t size_bytes = 0;   ///< what the job needs
  uint64_t found_bytes = 0;  ///< what was there when we came
  bool existed = false;      ///< then it is never removed
};

class ObjectSet {
 public:
  /// `where` is "pool" or "pool/namespace", for messages.
  ObjectSet(std::shared_ptr<IoContext> io, ConnectionPool& pool, std::string where,
            std::vector<ObjectState> objects);

  /// Fills in found_bytes and existed. Throws Error.
  void look(int64_t timeout_ns);
  /// Writes every object that is shorter than needed in full, with incompressible data, in pieces
  /// that are multiples of `alignment_bytes` (0: any). Throws Error that names the object and
  /// errno.
  void write_in_full(uint64_t alignment_bytes, uint64_t seed, int64_t timeout_ns);
  /// Removes what did not exist before. Throws Error that says how many are left.
  void remove_created(int64_t timeout_ns);

  const std::vector<ObjectState>& objects() const { return objects_; }
  bool stuck() const { return stuck_; }

 private:
  using Start = std::function<int(size_t index, rados_completion_t completion)>;
  /// Starts `count` calls, a bounded number at once; their results by index. `memory` is kept as
  /// long as a call may write to it. Throws Error when none comes back in time.
  std::vector<int> run_all(const char* what, size_t count, int64_t timeout_ns, const Start& start,
                           std::shared_ptr<void> memory = nullptr);
  int append_in_pieces(const ObjectState& object, const std::vector<char>& data,
                       int64_t timeout_ns);

  std::shared_ptr<IoContext> io_;
  ConnectionPool& pool_;
  std::string where_;
  std::vector<ObjectState> objects_;
  bool stuck_ = false;
};

}  // namespace cephmark
