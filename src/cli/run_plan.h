// run_plan: from the job files that a command line names to a Plan. Reads files; one thread.
#pragma once

#include <string>
#include <vector>

#include "cli/run_options.h"
#include "job/diagnostics.h"
#include "job/plan.h"

namespace cephmark {

/// A job file's text; "-": standard input. Throws Error.
std::string text_of_job_file(const std::string& path);

/// Parses the job files and makes the plan. All mistakes are thrown as one UsageError; warnings
/// stay in the plan and in `diagnostics`.
Plan make_run_plan(const RunOptions& options, const std::vector<std::string>& argv,
                   Diagnostics& diagnostics);

}  // namespace cephmark
