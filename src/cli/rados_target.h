// rados_target: what a bench command line finds in its pool: which run a read run reads, under
// which names a write run writes, and that nothing is in its way. Blocks, with patience; one
// thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compat/rados_plan.h"

namespace cephmark {

struct RadosTarget {
  RadosBenchRun run;
  bool limited_by_room = false;  ///< run.ops is as many as there is room for
  uint64_t ops_before = 0;       ///< --reuse-bench: so many are there
  std::vector<std::string> notes;
};

/// Throws Error; changes nothing in the pool.
RadosTarget find_rados_target(const RadosArguments& arguments, bool compat);

/// Which run is meant where no --run-name is given: the only one in the namespace. Throws Error
/// when there are several, RadosFailure (with `none`) when there is none.
BenchRun choose_bench_run(const IoContext& io, const std::string& none,
                          const std::function<void(size_t)>& seen);

}  // namespace cephmark
