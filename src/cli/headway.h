// Headway: carries out a step that asks the cluster on a thread of its own, and gives it up when
// the cluster answers no more. Owned and used by one thread; sign_of_life() may be called by any.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

namespace cephmark {

struct HeadwayLimits {
  int64_t silence_ns = 30'000'000'000;    ///< without a sign of life: given up; 0: never
  int64_t after_stop_ns = 1'000'000'000;  ///< the same once a stop was requested
};

class Headway {
 public:
  Headway();

  /// Returns when `action` has ended, and throws what it threw. Throws Error (exit code 130 when a
  /// stop was requested) that names `what` when it was given up; then left_behind() is true for
  /// good: a library call is still at work in `action`, so that nothing it uses may be taken down
  /// and the process must leave with _exit.
  void run(const std::string& what, const std::function<void()>& action,
           const HeadwayLimits& limits, std::stop_token stop);

  /// The step under way gets on; it may be silent from now on for its limit, and `more_ns` longer.
  void sign_of_life(int64_t more_ns = 0);

  bool left_behind() const { return left_behind_; }  ///< may be asked by any thread

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  std::atomic<bool> left_behind_ = false;
};

}  // namespace cephmark
