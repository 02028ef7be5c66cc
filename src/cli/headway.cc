#include "cli/headway.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/time.h"
#include "base/units.h"

namespace cephmark {

// Outlives the step's thread, whichever of the two ends last.
struct Headway::Shared {
  std::mutex mutex;
  std::condition_variable news;
  bool done = false;
  std::exception_ptr failure;
  int64_t alive_ns = 0;  ///< last sign of life, or the instant until which silence was announced
};

Headway::Headway() : shared_(std::make_shared<Shared>()) {}

void Headway::sign_of_life(int64_t more_ns) {
  const std::lock_guard lock(shared_->mutex);
  shared_->alive_ns = std::max(shared_->alive_ns, monotonic_ns() + more_ns);
}

void Headway::run(const std::string& what, const std::function<void()>& action,
                  const HeadwayLimits& limits, std::stop_token stop) {
  std::unique_lock lock(shared_->mutex);
  shared_->done = false;
  shared_->failure = nullptr;
  shared_->alive_ns = monotonic_ns();
  std::thread([shared = shared_, action] {
    std::exception_ptr failure;
    try {
      action();
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard inner(shared->mutex);
    shared->failure = std::move(failure);  // ends with the reader: this thread may still run then
    shared->done = true;
    shared->news.notify_all();
  }).detach();

  constexpr auto kLook = std::chrono::milliseconds(50);
  int64_t stopped_ns = 0;
  while (!shared_->news.wait_for(lock, kLook, [this] { return shared_->done; })) {
    const int64_t now_ns = monotonic_ns();
    if (stop.stop_requested() && stopped_ns == 0) {
      stopped_ns = now_ns;
      shared_->alive_ns = std::min(shared_->alive_ns, now_ns);  // announced silence ends here
    }
    if (stopped_ns != 0) {
      if (now_ns - std::max(stopped_ns, shared_->alive_ns) < limits.after_stop_ns) continue;
      left_behind_ = true;
      throw Error(fmt::format("interrupted while {}{}", what,
                              limits.silence_ns > 0 ? ": the cluster did not answer" : ""),
                  "", ExitCode::kInterrupted);
    }
    if (limits.silence_ns <= 0 || now_ns - shared_->alive_ns < limits.silence_ns) continue;
    left_behind_ = true;
    throw Error(
        fmt::format("{}: nothing came from the cluster for {}", what,
                    format_duration(limits.silence_ns)),
        "are its OSDs up and reachable from here, is the pool active? --open-timeout sets how long "
        "is waited");
  }
  if (shared_->failure) std::rethrow_exception(std::exchange(shared_->failure, nullptr));
}

}  // namespace cephmark
