// Runner: executes a Plan. LocalRunner does it in this process, FioRunner with real fio processes;
// one for many hosts comes with src/hosts.
#pragma once

#include <stop_token>

#include "job/plan.h"
#include "result/observer.h"
#include "result/run_result.h"

namespace cephmark {

class Runner {
 public:
  virtual ~Runner() = default;
  /// Runs to the end, or until `stop` is requested (then: stop issuing, drain within the plan's
  /// grace, return what was measured, marked). Throws Error for set-up failures; I/O failures are
  /// in the result.
  virtual RunResult run(const Plan& plan, std::stop_token stop, Observer& observer) = 0;
};

}  // namespace cephmark
