// run_steps: slow set-up and tear-down calls (opening 1,000 images), a bounded number at once, each
// with its own time limit. Library calls cannot be cancelled: a step that exceeds its limit is left
// to its thread, and cleans up after itself if it ever comes back. Called from the runner's thread;
// Observer is called from there only.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "result/observer.h"

namespace cephmark {

struct Step {
  std::string name;              ///< "rbd/HOST-0"
  std::function<void()> action;  ///< may throw Error; owns what it touches (it may outlive the run)
  std::function<void()> if_late;  ///< run after an action that was given up; may be empty
  int64_t timeout_ns = 0;         ///< from its own start; 0: none
};

/// Runs all steps. The first failure, time-out or stop request ends it: steps that were not begun
/// are left out, those under way are given up (`left_behind` is set when there are any: what they
/// use must stay). Throws Error: the step's own, one that names what was waited for, or
/// "interrupted".
void run_steps(const std::string& what, std::vector<Step> steps, unsigned threads,
               Observer& observer, std::stop_token stop, bool& left_behind);

}  // namespace cephmark
