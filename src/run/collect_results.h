// collect_results: merges what lanes measured into a RunResult. Called by the runner's thread when
// the stages are over, also when some lanes are stuck: of those, what they had published.
#pragma once

#include "result/run_result.h"
#include "run/run_state.h"

namespace cephmark {

/// Fills vms, phases, measured_ns, fleet histograms, intervals, connections and what the targets
/// told; sets must_exit_hard when requests never came back.
void collect_results(RunState& state, RunResult& result);

}  // namespace cephmark
