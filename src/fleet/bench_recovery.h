// bench_recovery: a write run of `rados bench` that left no record (it was killed) as its objects
// tell it. Asks, changes nothing. Blocks; any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "ceph/cluster.h"
#include "fleet/bench_runs.h"

namespace cephmark {

/// The run of that prefix, without a name: sizes and contents from its first object, and as many
/// ops as are there without a gap. Nothing when there is no such object, or no data in it. Lists
/// the pool; `seen` as list_bench().
std::optional<BenchRun> recover_bench_run(const IoContext& io, const std::string& prefix,
                                          const std::function<void(size_t)>& seen = {});

}  // namespace cephmark
