// Job text: a VM's jobs written back as a fio job file. Pure functions.
#pragma once

#include <string>

#include "job/plan.h"

namespace cephmark {

/// The job file of one VM: VmPlan::job_text when the plan carries it (the template after
/// substitution, comments and all), else sections written from JobSpec::written_globals and
/// written_options. fio reads both alike.
std::string job_file_text(const VmPlan& vm);

}  // namespace cephmark
