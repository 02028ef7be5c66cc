// bench_objects: the objects that `rados bench` (or we, as it does) left in a pool: found by their
// prefix, removed many at once. Nothing else is ever removed here. Blocks; any thread, one at a
// time per call.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ceph/cluster.h"

namespace cephmark {

/// Names of all objects of a prefix ("benchmark_data_HOST_PID") in the context's namespace; an
/// empty prefix: of all runs. Lists the whole pool. Throws Error.
std::vector<std::string> list_bench_objects(const IoContext& io, const std::string& prefix);

/// What a pool has of runs, in one namespace.
struct BenchListing {
  std::map<std::string, std::vector<std::string>> objects;  ///< prefix -> names
  std::vector<std::string> records;                         ///< of default names
};
/// Namespace -> what is in it; those without anything are left out. `all_namespaces` changes the
/// context's namespace. Lists the whole pool; `seen` is told how many objects it has looked at.
std::map<std::string, BenchListing> list_bench(const IoContext& io, bool all_namespaces,
                                               const std::function<void(size_t)>& seen = {});

struct RemovedObjects {
  size_t removed = 0;  ///< were there and are gone
  size_t left = 0;     ///< could not be removed
  int error = 0;       ///< of one of these, negative
};
/// Removes them, `at_once` at a time, in a pool that is full, too. `progress` is told how many are
/// done, by one thread at a time, and says whether to go on.
RemovedObjects remove_objects(const IoContext& io, const std::vector<std::string>& names,
                              size_t at_once = 16,
                              const std::function<bool(size_t done)>& progress = {});

/// Removes the objects of a run by their numbers, without listing the pool: the first `count`, and
/// what stands behind these (ops in flight when a run was cut off), until many in a row are absent.
RemovedObjects remove_bench_run(const IoContext& io, const std::string& prefix, uint64_t count,
                                size_t at_once = 16,
                                const std::function<bool(size_t done)>& progress = {});

}  // namespace cephmark
