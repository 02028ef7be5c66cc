// SignalWatcher: turns the first SIGINT, SIGTERM or SIGHUP into a stop request and the second into
// an exit at once. A SIGHUP that is ignored already (nohup) stays so; SIGPIPE becomes a failed
// write. One per process, made by a command that runs for long, before it starts threads; handlers
// are restored at the end.
#pragma once

#include <stop_token>
#include <thread>

#include "base/fd.h"

namespace cephmark {

class SignalWatcher {
 public:
  explicit SignalWatcher(std::stop_source& source);
  ~SignalWatcher();
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;

  /// The first signal that came, or 0.
  static int received();
  /// "interrupted (SIGINT)", or "" when none came.
  static const char* reason();
  /// 128 + the signal, or 0.
  static int exit_code();

 private:
  UniqueFd read_end_, write_end_;
  std::jthread thread_;
};

}  // namespace cephmark
