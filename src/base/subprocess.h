// Subprocess: runs other programs without a shell. Every child dies with its owner; only children
// started here are ever signalled, by pid.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cephmark {

struct CommandResult {
  int exit_code = 0;  ///< 128 + n when signal n ended it
  std::string out, err;
  bool timed_out = false;
};

struct CommandOptions {
  std::string input;                               ///< fed to standard input
  std::map<std::string, std::string> environment;  ///< added to ours
  int64_t timeout_ns = 60'000'000'000;             ///< then SIGTERM, and SIGKILL 2 s later
  std::string directory;                           ///< working directory; empty: ours
};

/// Runs a program (found on PATH) to its end and collects both streams. Throws Error when it cannot
/// be started.
CommandResult run_command(const std::vector<std::string>& argv, const CommandOptions& options = {});

/// The same, and throws Error with the command and the end of its stderr unless it exits with 0.
/// Returns stdout.
std::string run_or_throw(const std::vector<std::string>& argv, const CommandOptions& options = {});

/// Full path of a program on PATH, or "".
std::string find_program(const std::string& name);

}  // namespace cephmark
