// bench_settings_of: what the engine rados-bench reads from a job. Internal to src/engine.
#pragma once

#include "engine/rados_bench_queue.h"
#include "job/job_spec.h"

namespace cephmark {

/// Throws UsageError for a value that is none.
BenchQueueSettings bench_settings_of(const JobSpec& job);

}  // namespace cephmark
