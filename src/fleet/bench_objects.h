// bench_objects: the objects that `rados bench` (or we, as it does) left in a pool: found by their
// prefix, removed many at once. Blocks; any thread, one at a time per call.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ceph/cluster.h"

namespace cephmark {

/// Names of all objects of a prefix ("benchmark_data_HOST_PID") in the context's namespace; an
/// empty prefix: of all runs. Lists the whole pool. Throws Error.
std::vector<std::string> list_bench_objects(const IoContext& io, const std::string& prefix);

struct LeftObjects {
  size_t count = 0;
  int error = 0;  ///< of one of them, negative
};
/// Removes them, `at_once` at a time; one that is gone already counts as removed. `progress` is
/// told how many are done, by one thread at a time. Returns what could not be removed.
LeftObjects remove_objects(const IoContext& io, const std::vector<std::string>& names,
                           size_t at_once = 16,
                           const std::function<void(size_t done)>& progress = {});

}  // namespace cephmark
