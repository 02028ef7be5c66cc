#include "lab/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <sstream>

#include "base/error.h"
#include "base/fd.h"
#include "base/subprocess.h"
#include "base/time.h"

namespace cephmark {
namespace {

std::string boot_id() {
  std::string text = read_file("/proc/sys/kernel/random/boot_id");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

size_t thread_count(pid_t pid) {
  std::error_code error;
  size_t count = 0;
  for (std::filesystem::directory_iterator at(fmt::format("/proc/{}/task", pid), error), end;
       !error && at != end; at.increment(error))
    ++count;
  return count;
}

bool read_stat(pid_t pid, uint64_t& start_ticks, char& state) {
  std::string text;
  try {
    text = read_file(fmt::format("/proc/{}/stat", pid));
  } catch (const Error&) {
    return false;
  }
  if (!parse_proc_stat(text, start_ticks, state) || state == 'X') return false;
  // Of a killed process the first thread may be a zombie while others still end: until the last of
  // them has, files and locks are held.
  return state != 'Z' || thread_count(pid) > 1;
}

// Made before the fork, as only async-signal-safe calls may follow it.
struct Launch {
  std::string program;
  std::vector<std::string> texts;
  std::vector<char*> argv, environment;
  int output = -1, input = -1, link = -1;
  rlimit files{};
};

[[noreturn]] void run_daemon(const Launch& launch) {
  const pid_t self = ::getpid();
  char go = 0;
  // Until the parent has recorded who we are, nothing is started; its death ends us here.
  if (::send(launch.link, &self, sizeof self, MSG_NOSIGNAL) != sizeof self) ::_exit(127);
  if (::recv(launch.link, &go, 1, 0) != 1) ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int number : {SIGPIPE, SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD}) ::signal(number, SIG_DFL);
  ::setrlimit(RLIMIT_NOFILE, &launch.files);
  // As daemons do; Debian's Ceph 18.2 even looks for its object classes from there (a relative
  // osd_class_dir).
  if (::chdir("/") == 0 && ::dup2(launch.input, 0) >= 0 && ::dup2(launch.output, 1) >= 0 &&
      ::dup2(launch.output, 2) >= 0) {
    ::syscall(SYS_close_range, 3u, ~0u,
              CLOSE_RANGE_CLOEXEC);  // whatever our caller left open is not the daemon's
    ::execve(launch.program.c_str(), launch.argv.data(), launch.environment.data());
  }
  const int error = errno;
  ::send(launch.link, &error, sizeof error, MSG_NOSIGNAL);
  ::_exit(127);
}

ssize_t receive(int fd, void* data, size_t size) {
  ssize_t got;
  do got = ::recv(fd, data, size, 0);
  while (got < 0 && errno == EINTR);
  return got;
}

void prepare(Launch& launch, const DaemonSpec& spec) {
  launch.program = find_program(spec.argv.at(0));
  if (launch.program.empty())
    throw Error(fmt::format("cannot start '{}': no such program on PATH", spec.argv[0]));
  launch.texts = spec.argv;
  for (const auto& [name, value] : spec.environment) launch.texts.push_back(name + "=" + value);
  for (size_t i = 0; i < launch.texts.size(); ++i)
    (i < spec.argv.size() ? launch.argv : launch.environment).push_back(launch.texts[i].data());
  launch.argv.push_back(nullptr);
  launch.environment.push_back(nullptr);
  ::getrlimit(RLIMIT_NOFILE, &launch.files);
  launch.files.rlim_cur = launch.files.rlim_max;
}

}  // namespace

bool parse_proc_stat(const std::string& text, uint64_t& start_ticks, char& state) {
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return false;
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  if (!(fields >> state)) return false;  // field 3
  for (int field = 4; field < 22; ++field) fields >> skipped;
  return static_cast<bool>(fields >> start_ticks);  // field 22
}

ProcessId identify_process(pid_t pid) {
  ProcessId id;
  char state = 0;
  if (pid <= 0 || !read_stat(pid, id.start_ticks, state)) return {};
  id.pid = pid;
  id.boot_id = boot_id();
  return id;
}

ProcessState process_state(const ProcessId& id) {
  uint64_t start_ticks = 0;
  char state = 0;
  if (id.pid <= 0 || !read_stat(id.pid, start_ticks, state) || start_ticks != id.start_ticks ||
      boot_id() != id.boot_id)
    return ProcessState::kGone;
  return state == 'T' || state == 't' ? ProcessState::kPaused : ProcessState::kRunning;
}

bool signal_process(const ProcessId& id, int signal) {
  if (id.pid <= 0) return false;
  // The descriptor pins the process: between the look and the signal the pid cannot change hands.
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, id.pid, 0)));
  if (!pidfd && errno != ENOSYS) return false;
  if (process_state(id) == ProcessState::kGone) return false;
  const long sent = pidfd ? ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0)
                          : ::kill(id.pid, signal);
  if (sent == 0) return true;
  if (errno == ESRCH) return false;
  throw Error(fmt::format("cannot signal process {}: {}", id.pid, errno_text(errno)),
              errno == EPERM ? "another user started it: run this as that user, or as root" : "");
}

bool wait_process_gone(const ProcessId& id, int64_t timeout_ns) {
  const int64_t deadline_ns = monotonic_ns() + timeout_ns;
  UniqueFd pidfd(id.pid > 0 ? static_cast<int>(::syscall(SYS_pidfd_open, id.pid, 0)) : -1);
  while (process_state(id) != ProcessState::kGone) {
    const int64_t left_ms = (deadline_ns - monotonic_ns()) / kNsPerMs;
    if (left_ms <= 0) return false;
    pollfd entry{pidfd.get(), POLLIN, 0};
    ::poll(&entry, pidfd ? 1 : 0, static_cast<int>(std::min<int64_t>(left_ms, pidfd ? 1000 : 20)));
  }
  return true;
}

ProcessId start_daemon(const DaemonSpec& spec,
                       const std::function<void(const ProcessId&)>& on_known) {
  Launch launch;
  prepare(launch, spec);
  UniqueFd output(
      ::open(spec.output_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!output) throw Error(fmt::format("cannot write {}: {}", spec.output_path, errno_text(errno)));
  UniqueFd input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
    throw Error(fmt::format("cannot make a socket pair: {}", errno_text(errno)));
  UniqueFd ours(ends[0]), theirs(ends[1]);
  launch.output = output.get(), launch.input = input.get(), launch.link = theirs.get();

  // Two forks: the daemon belongs to init, so that nobody keeps a zombie of it, in a session
  // without a terminal.
  const pid_t between = ::fork();
  if (between < 0)
    throw Error(fmt::format("cannot start '{}': {}", spec.argv[0], errno_text(errno)));
  if (between == 0) {
    ::close(ours.get());
    ::setsid();
    if (::_Fork() == 0) run_daemon(launch);
    ::_exit(0);
  }
  theirs.reset();
  while (::waitpid(between, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_t pid = 0;
  if (receive(ours.get(), &pid, sizeof pid) != sizeof pid)
    throw Error(fmt::format("cannot start '{}': it ended before it began", spec.argv[0]));
  ProcessId id = identify_process(pid);
  on_known(id);
  const char go = 1;
  ::send(ours.get(), &go, 1, MSG_NOSIGNAL);
  int error = 0;
  if (receive(ours.get(), &error, sizeof error) == sizeof error)
    throw Error(fmt::format("cannot start '{}': {}", spec.argv[0], errno_text(error)));
  return id;
}

}  // namespace cephmark
