// Process: daemons that outlive us, known by pid and start time, so that a recycled pid is never
// signalled. Functions are thread-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace cephmark {

/// One process of this boot of this machine. A pid alone may belong to somebody else by now; these
/// three may not.
struct ProcessId {
  pid_t pid = 0;
  uint64_t start_ticks = 0;  ///< field 22 of /proc/PID/stat (proc(5))
  std::string boot_id;       ///< /proc/sys/kernel/random/boot_id
  bool operator==(const ProcessId&) const = default;
};

enum class ProcessState { kGone, kRunning, kPaused };

struct DaemonSpec {
  std::vector<std::string> argv;  ///< found on PATH; must stay in the foreground
  std::map<std::string, std::string>
      environment;          ///< the whole of it: nothing of ours is inherited
  std::string output_path;  ///< takes its standard output and error (appended)
};

/// Starts a program in a session of its own. `on_known` is called with its identity before the
/// program runs: what it records (in a file) is complete even when we are killed the next moment,
/// for the program then never starts. Throws Error when the program cannot be started, or what
/// `on_known` throws.
ProcessId start_daemon(const DaemonSpec& spec,
                       const std::function<void(const ProcessId&)>& on_known);

/// Identity of a living process; pid 0 when there is none (a zombie counts as none).
ProcessId identify_process(pid_t pid);

ProcessState process_state(const ProcessId& id);

/// Sends a signal to exactly this process. False when it is gone. Throws Error when we may not.
bool signal_process(const ProcessId& id, int signal);

/// True once the process is gone; false when `timeout_ns` passed before.
bool wait_process_gone(const ProcessId& id, int64_t timeout_ns);

/// Start time and state letter out of the text of /proc/PID/stat; false when it is not such a text.
/// The program's name in it may contain blanks and parentheses.
bool parse_proc_stat(const std::string& text, uint64_t& start_ticks, char& state);

}  // namespace cephmark
