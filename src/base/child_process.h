// ChildProcess: one long-running child (run_command in subprocess.h is for short ones). Owned by
// one thread, which must outlive the child: the kernel ends the child when the thread that started
// it ends. The child leads a process group of its own, so that a Ctrl-C on the terminal reaches us
// only, and what it leaves behind in that group ends with it.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/fd.h"

namespace cephmark {

struct ChildOptions {
  std::map<std::string, std::string> environment;  ///< added to ours
  std::string out_path, err_path;  ///< created or emptied; standard input is /dev/null
  int max_cpus = 0;                ///< run on the first so many of our CPUs; 0: on all
};

class ChildProcess {
 public:
  /// Starts a program (found on PATH unless it has a slash). Throws Error naming it and errno when
  /// that fails.
  static ChildProcess start(const std::vector<std::string>& argv, const ChildOptions& options);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  /// SIGKILLs and reaps the child if it still runs.
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  bool running();  ///< false once it has ended (it is reaped then, and its whole group is killed)

  /// Sends a signal to the child, or to its whole group. Nothing happens when it has ended.
  void signal(int number);
  void signal_group(int number);

  // After the end:
  int exit_code() const;      ///< 128 + n when signal n ended it
  int signal_number() const;  ///< 0: it ended by itself
  const rusage& usage() const {
    return usage_;
  }  ///< its own and that of the children it waited for
  int64_t ended_ns() const { return ended_ns_; }  ///< monotonic, as seen here

  /// Waits until one of the children has ended or the time (monotonic) has come; looks at all of
  /// them.
  static void wait_any(const std::vector<ChildProcess*>& children, int64_t until_ns);

 private:
  ChildProcess(pid_t pid, UniqueFd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}

  pid_t pid_ = -1;
  UniqueFd pidfd_;
  bool ended_ = false;
  int status_ = 0;
  int64_t ended_ns_ = 0;
  rusage usage_{};
};

}  // namespace cephmark
