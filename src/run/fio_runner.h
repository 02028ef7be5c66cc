// FioRunner: executes a plan with real fio processes, one per VM, all at once, and reads their
// reports back into a RunResult. Owned by the caller; run() is called by one thread, which starts,
// watches and ends every process: none outlives run(), nor this program (fio runs its jobs as
// threads, --thread, so that its end is the end of all).
//
// What it cannot do that the native runner does, and says in the result: phases (stonewall) are
// kept by each fio for itself, there is no barrier before the first I/O, no interval series, and
// depths are fio's rounded shares.
#pragma once

#include <string>
#include <vector>

#include "run/runner.h"

namespace cephmark {

/// Where the files of one VM are kept. Both are written whole: the job file before the start, the
/// report (fio's JSON document and nothing else, also when fio failed) after the end.
struct FioVmFiles {
  std::string job_file, result_file;
};

struct FioCollection;

struct FioRunnerSettings {
  std::string fio_path;           ///< --fio PATH; empty: looked for (fio_program.h)
  std::vector<FioVmFiles> files;  ///< by VM; empty: nothing is kept
  int64_t term_grace_ns =
      3'000'000'000;  ///< after SIGTERM, then SIGKILL; after SIGINT it is the plan's drain_grace
};

class FioRunner : public Runner {
 public:
  explicit FioRunner(FioRunnerSettings settings) : settings_(std::move(settings)) {}
  RunResult run(const Plan& plan, std::stop_token stop, Observer& observer) override;

 private:
  void keep_documents(FioCollection& collection, Observer& observer) const;

  FioRunnerSettings settings_;
};

}  // namespace cephmark
