// FioCollect: from ended fio processes to a RunResult. Pure functions.
#pragma once

#include <sys/resource.h>

#include <string>
#include <vector>

#include "base/json.h"
#include "result/run_result.h"

namespace cephmark {

/// What is left of one fio process.
struct FioEnd {
  std::string output;  ///< its --output file: a JSON document with messages around it, or less
  std::string errors;  ///< its standard error
  int exit_code = 0;
  int signal_number = 0;  ///< of the signal that ended it; 0: none
  bool started = true;    ///< false: the run was stopped before its turn came
  bool stopped = false;   ///< we had asked it to stop
  rusage usage{};
  int64_t ended_wall_ns = 0;
};

struct FioCollection {
  RunResult result;
  std::vector<Json> documents;  ///< by VM: fio's report, or {"fio version", "jobs": [], "error"}
                                ///< when there is none
};

/// `version` is "fio 3.33". Ends are by VM. Times of the result are relative to the first VM's
/// first I/O.
FioCollection collect_fio(const Plan& plan, const std::string& version,
                          const std::vector<FioEnd>& ends);

/// How long a stage of this VM lasts when only its times end it; 0: not known. Used for progress.
int64_t fio_stage_length_ns(const VmPlan& vm, int stage);

}  // namespace cephmark
