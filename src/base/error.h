// Error: how set-up and user mistakes travel. I/O failures are data, not exceptions.
// Thrown by any layer; caught in main, at a worker's entry and in an agent's request.
#pragma once

#include <stdexcept>
#include <string>

namespace cephmark {

/// Process exit codes (documented in README). Compat commands keep those of the program they stand
/// in for.
enum class ExitCode : int {
  kOk = 0,
  kIoErrors = 1,      ///< I/O errors, or data that did not verify
  kUsage = 2,         ///< command line or job file
  kEnvironment = 3,   ///< no cluster, no permission, no space, stopped by a guard
  kVerdict = 4,       ///< a verdict was missed
  kInconclusive = 5,  ///< nothing could be concluded
  kHangup = 129,
  kInterrupted = 130,
  kTerminated = 143,
};

/// What went wrong (`what()`: what, where, why) and what to do about it (`hint()`, may be empty).
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, std::string hint = "",
                 ExitCode code = ExitCode::kEnvironment)
      : std::runtime_error(message), hint_(std::move(hint)), code_(code) {}

  const std::string& hint() const { return hint_; }
  ExitCode code() const { return code_; }

 private:
  std::string hint_;
  ExitCode code_;
};

/// A mistake on the command line or in a job file (exit code 2).
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message, std::string hint = "")
      : Error(message, std::move(hint), ExitCode::kUsage) {}
};

/// "No such file or directory (ENOENT)" for 2 or -2; "error 4711" for a number without a name.
/// Thread-safe.
std::string errno_text(int error);

/// "ENOENT" for 2 or -2; "E4711" for a number without a name. Thread-safe.
std::string errno_name(int error);

}  // namespace cephmark
