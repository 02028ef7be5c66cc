// plan_codec: Plan <-> JSON, for results on disk and for the wire between hosts. Pure functions,
// any thread. The JSON carries "version"; what is written by this version is read back equal.
// An unknown key is an error that names it: what cannot be honoured must not be left out silently.
// A missing key keeps its default, so that plans of an older program of this version are read.
#pragma once

#include "base/json.h"
#include "job/plan.h"

namespace cephmark {

Json plan_to_json(const Plan& plan);

/// Throws Error that names the place ("plan: vms[2].jobs[0].iodepth: not a number") when it is not
/// a plan, or one of a newer version.
Plan plan_from_json(const Json& json);

Json job_to_json(const JobSpec& job);
JobSpec job_from_json(const Json& json);

}  // namespace cephmark
