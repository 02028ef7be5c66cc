#include "base/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/cpu_affinity.h"
#include "base/error.h"
#include "base/subprocess.h"
#include "base/time.h"

extern char** environ;

namespace cephmark {
namespace {

UniqueFd open_or_throw(const std::string& path, int flags) {
  UniqueFd fd(::open(path.c_str(), flags | O_CLOEXEC, 0644));
  if (!fd) throw Error(fmt::format("cannot open {}: {}", path, errno_text(errno)));
  return fd;
}

UniqueFd output_file(const std::string& path) {
  return path.empty() ? open_or_throw("/dev/null", O_WRONLY)
                      : open_or_throw(path, O_WRONLY | O_CREAT | O_TRUNC);
}

std::vector<char*> c_strings(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// Made before the fork: between fork and exec only async-signal-safe calls are allowed.
struct Preparation {
  std::string program;
  std::vector<std::string> argv_texts, environment_texts;
  std::vector<char*> argv, environment;
  UniqueFd in, out, err, failure_reader, failure_writer;
  cpu_set_t cpus;
  bool set_cpus = false;
  pid_t owner = 0;
};

Preparation prepare(const std::vector<std::string>& argv, const ChildOptions& options) {
  Preparation plan;
  plan.program = argv.empty() ? "" : find_program(argv[0]);
  if (plan.program.empty())
    throw Error(
        fmt::format("cannot start '{}': there is no such program", argv.empty() ? "" : argv[0]));
  plan.argv_texts = argv;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string text = *entry;
    if (!options.environment.contains(text.substr(0, text.find('='))))
      plan.environment_texts.push_back(text);
  }
  for (const auto& [name, value] : options.environment)
    plan.environment_texts.push_back(name + "=" + value);
  plan.argv = c_strings(plan.argv_texts);
  plan.environment = c_strings(plan.environment_texts);
  plan.in = open_or_throw("/dev/null", O_RDONLY);
  plan.out = output_file(options.out_path);
  plan.err = output_file(options.err_path);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC))
    throw Error(fmt::format("cannot make a pipe: {}", errno_text(errno)));
  plan.failure_reader.reset(ends[0]);
  plan.failure_writer.reset(ends[1]);
  plan.owner = ::getpid();
  cpu_set_t ours;
  if (options.max_cpus > 0 && ::sched_getaffinity(0, sizeof ours, &ours) == 0) {
    plan.cpus = first_cpus(ours, options.max_cpus);
    plan.set_cpus = true;
  }
  return plan;
}

[[noreturn]] void become(const Preparation& plan) {
  const auto fail = [&] {
    const int error = errno;
    [[maybe_unused]] const ssize_t n = ::write(plan.failure_writer.get(), &error, sizeof error);
    ::_exit(127);
  };
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.owner) ::_exit(127);  // the owner died before we asked to be told
  for (int number : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (plan.set_cpus && ::sched_setaffinity(0, sizeof plan.cpus, &plan.cpus)) fail();
  if (::dup2(plan.in.get(), 0) < 0 || ::dup2(plan.out.get(), 1) < 0 ||
      ::dup2(plan.err.get(), 2) < 0)
    fail();
  ::execve(plan.program.c_str(), plan.argv.data(), plan.environment.data());
  fail();
  ::_exit(127);
}

}  // namespace

ChildProcess ChildProcess::start(const std::vector<std::string>& argv,
                                 const ChildOptions& options) {
  Preparation plan = prepare(argv, options);
  const pid_t pid = ::fork();
  if (pid < 0) throw Error(fmt::format("cannot start {}: {}", plan.program, errno_text(errno)));
  if (pid == 0) become(plan);
  ::setpgid(pid, pid);  // in both, so that it holds whoever runs first
  ChildProcess child(pid, UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))));
  plan.failure_writer.reset();
  int error = 0;
  ssize_t got;
  do got = ::read(plan.failure_reader.get(), &error, sizeof error);
  while (got < 0 && errno == EINTR);
  if (got == sizeof error)
    throw Error(fmt::format("cannot start {}: {}", plan.program, errno_text(error)));
  return child;
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      pidfd_(std::move(other.pidfd_)),
      ended_(other.ended_),
      status_(other.status_),
      ended_ns_(other.ended_ns_),
      usage_(other.usage_) {}

ChildProcess::~ChildProcess() {
  if (pid_ < 0 || !running()) return;
  signal_group(SIGKILL);
  siginfo_t info;
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  running();
}

bool ChildProcess::running() {
  if (ended_ || pid_ < 0) return false;
  siginfo_t info{};
  // Looked at first, reaped second: until then its group's number cannot go to somebody else.
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      info.si_pid == 0)
    return true;
  ::kill(-pid_, SIGKILL);
  while (::wait4(pid_, &status_, 0, &usage_) < 0 && errno == EINTR) {
  }
  ended_ = true;
  ended_ns_ = monotonic_ns();
  return false;
}

void ChildProcess::signal(int number) {
  if (running()) ::kill(pid_, number);
}

void ChildProcess::signal_group(int number) {
  if (running()) ::kill(-pid_, number);
}

int ChildProcess::exit_code() const {
  return WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
}

int ChildProcess::signal_number() const {
  return WIFSIGNALED(status_) ? WTERMSIG(status_) : 0;
}

void ChildProcess::wait_any(const std::vector<ChildProcess*>& children, int64_t until_ns) {
  constexpr int64_t kWithoutPidfd_ms = 20;  // a kernel before 5.3
  std::vector<pollfd> entries;
  bool blind = false;
  for (ChildProcess* child : children) {
    if (!child->running()) continue;
    blind = blind || !child->pidfd_;
    if (child->pidfd_) entries.push_back({child->pidfd_.get(), POLLIN, 0});
  }
  int64_t left_ms = std::max<int64_t>(0, (until_ns - monotonic_ns() + kNsPerMs - 1) / kNsPerMs);
  if (blind) left_ms = std::min(left_ms, kWithoutPidfd_ms);
  ::poll(entries.data(), entries.size(), static_cast<int>(std::min<int64_t>(left_ms, 60'000)));
  for (ChildProcess* child : children) child->running();
}

}  // namespace cephmark
