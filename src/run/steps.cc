#include "run/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/time.h"
#include "base/units.h"

namespace cephmark {
namespace {

enum class StepState : uint8_t { kWaiting, kUnderWay, kDone, kGivenUp };

// Shared with threads that may never come back.
struct Shared {
  std::mutex mutex;
  std::condition_variable news;
  std::vector<Step> steps;
  std::vector<StepState> states;
  std::vector<int64_t> begun_ns;
  size_t next = 0;
  size_t done = 0;
  bool cancelled = false;
  std::exception_ptr failure;
};

void work(const std::shared_ptr<Shared>& shared) {
  std::unique_lock lock(shared->mutex);
  while (!shared->cancelled && shared->next < shared->steps.size()) {
    const size_t index = shared->next++;
    const Step& step = shared->steps[index];
    shared->states[index] = StepState::kUnderWay;
    shared->begun_ns[index] = monotonic_ns();
    lock.unlock();
    std::exception_ptr failure;
    try {
      step.action();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (shared->states[index] == StepState::kGivenUp) {
      lock.unlock();
      try {
        if (!failure && step.if_late) step.if_late();
      } catch (...) {
        // Nobody waits for it any more.
      }
      return;
    }
    shared->states[index] = StepState::kDone;
    shared->steps[index].action = nullptr;  // what it owned is its caller's alone now
    shared->steps[index].if_late = nullptr;
    ++shared->done;
    if (failure && !shared->failure) {
      shared->failure = std::move(failure);
      shared->cancelled = true;
    }
    shared->news.notify_all();
  }
}

// The name of the first step beyond its limit, or "".
std::string overdue(const Shared& shared, int64_t now_ns, int64_t& timeout_ns) {
  for (size_t i = 0; i < shared.steps.size(); ++i) {
    const Step& step = shared.steps[i];
    if (shared.states[i] != StepState::kUnderWay || step.timeout_ns == 0) continue;
    if (now_ns - shared.begun_ns[i] < step.timeout_ns) continue;
    timeout_ns = step.timeout_ns;
    return step.name;
  }
  return "";
}

// True: some were under way.
bool give_up(Shared& shared) {
  shared.cancelled = true;
  bool any = false;
  for (StepState& state : shared.states) {
    if (state != StepState::kUnderWay) continue;
    state = StepState::kGivenUp;
    any = true;
  }
  return any;
}

}  // namespace

void run_steps(const std::string& what, std::vector<Step> steps, unsigned threads,
               Observer& observer, std::stop_token stop, bool& left_behind) {
  if (steps.empty()) return;
  const size_t total = steps.size();
  auto shared = std::make_shared<Shared>();
  shared->states.assign(total, StepState::kWaiting);
  shared->begun_ns.assign(total, 0);
  shared->steps = std::move(steps);
  for (size_t i = 0; i < std::min<size_t>(threads, total); ++i) std::thread(work, shared).detach();

  constexpr auto kLook = std::chrono::milliseconds(50);
  size_t told = SIZE_MAX;
  std::unique_lock lock(shared->mutex);
  for (;;) {
    const size_t done = shared->done;
    if (done != told) {
      told = done;
      lock.unlock();
      observer.progress(what, done, total);
      lock.lock();
    }
    if (shared->failure) {
      left_behind |= give_up(*shared);
      // Ends with the reader: threads that still run share the rest.
      std::rethrow_exception(std::exchange(shared->failure, nullptr));
    }
    if (shared->done == total) return;
    if (stop.stop_requested()) {
      left_behind |= give_up(*shared);
      throw Error(fmt::format("interrupted while {} ({} of {} done)", what, shared->done, total),
                  "", ExitCode::kInterrupted);
    }
    int64_t timeout_ns = 0;
    const std::string late = overdue(*shared, monotonic_ns(), timeout_ns);
    if (!late.empty()) {
      left_behind |= give_up(*shared);
      throw Error(
          fmt::format("{}: {} did not come back within {} ({} of {} done)", what, late,
                      format_duration(timeout_ns), shared->done, total),
          "is the cluster up, are its monitors and OSDs reachable from here, is the pool active?");
    }
    shared->news.wait_for(lock, kLook, [&] { return shared->done != told; });
  }
}

}  // namespace cephmark
