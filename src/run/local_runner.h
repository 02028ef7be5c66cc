// LocalRunner: executes a plan in this process: opens the engines, deals lanes to workers, releases
// stage after stage, tells the observer each second, and merges what the lanes measured. One run at
// a time per object.
#pragma once

#include "engine/file_target.h"
#include "run/runner.h"

namespace cephmark {

struct LocalRunnerOptions {
  FileGuard file_guard;  ///< asked before each file or device is opened; empty: default_file_guard
  /// Told each librados context of the run before anything is opened through it, from any thread,
  /// one at a time: its watchers are known as ours from then on. May be empty.
  std::function<void(uint64_t instance)> on_connected;
  /// EngineContext::about_to_create_objects. May be empty.
  std::function<void(const std::vector<std::string>& names)> about_to_create_objects;
  std::string run_id;     ///< EngineContext::run_id
  unsigned openers = 16;  ///< opens at once
  bool hand_over_only =
      false;  ///< library threads never advance a lane (slower; to check the short way against)
  int64_t tick_ns = 1'000'000'000;
};

class LocalRunner : public Runner {
 public:
  explicit LocalRunner(LocalRunnerOptions options = {}) : options_(std::move(options)) {}
  RunResult run(const Plan& plan, std::stop_token stop, Observer& observer) override;

 private:
  const LocalRunnerOptions options_;
};

}  // namespace cephmark
