// fio_plan: a whole command line of fio's -> Plan: the jobs of its --name sections, then those of
// its job files, as fio orders and groups them. One VM without a name. Pure but for `read`.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "compat/fio_arguments.h"
#include "job/diagnostics.h"
#include "job/job_file.h"
#include "job/plan.h"

namespace cephmark {

/// The rules are fio's: defaults from the command line hold for its own sections and for the first
/// job file, below that file's [global]s; every further file starts from fio's defaults, after all
/// jobs before it have ended. `read` gives the text of a job file and throws Error. Mistakes go to
/// `diagnostics`; the plan is of use when it is ok(). Not filled in: seed, ceph, limits.
Plan make_fio_plan(const FioArguments& arguments, const std::vector<std::string>& argv,
                   std::span<const EngineDescription> engines,
                   const std::function<std::string(const std::string& path)>& read,
                   const ParseOptions& options, Diagnostics& diagnostics);

}  // namespace cephmark
