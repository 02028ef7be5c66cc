#include "base/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/error.h"
#include "base/fd.h"
#include "base/time.h"

extern char** environ;

namespace cephmark {
namespace {

constexpr int64_t kKillGraceNs = 2 * kNsPerSecond;

// The child's streams are memory files, not pipes: nobody has to drain them while it runs, a
// grandchild that keeps them open cannot hold us up, and a child that ignores its input cannot
// raise SIGPIPE here.
UniqueFd memory_file(const char* name) {
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC));
  if (!fd)
    throw Error(fmt::format("cannot make a buffer for a child's stream: {}", errno_text(errno)));
  return fd;
}

std::string content_of(int fd) {
  std::string text;
  char block[65536];
  for (;;) {
    const ssize_t n = ::pread(fd, block, sizeof block, static_cast<off_t>(text.size()));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return text;
    text.append(block, static_cast<size_t>(n));
  }
}

void fill(int fd, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw Error(fmt::format("cannot hold a child's input: {}", errno_text(errno)));
    done += static_cast<size_t>(n);
  }
  ::lseek(fd, 0, SEEK_SET);
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& added) {
  std::vector<std::string> result;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string text = *entry;
    if (!added.contains(text.substr(0, text.find('=')))) result.push_back(text);
  }
  for (const auto& [name, value] : added) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// Everything the child needs, made before the fork: between fork and exec only async-signal-safe
// calls are allowed.
struct ChildPlan {
  std::string program;
  std::vector<std::string> argv_texts, environment_texts;
  std::vector<char*> argv, environment;
  const char* directory = nullptr;
  int in = -1, out = -1, err = -1, failure = -1;
  pid_t owner = 0;
};

[[noreturn]] void become(const ChildPlan& plan) {
  const auto fail = [&] {
    const int error = errno;
    [[maybe_unused]] const ssize_t n = ::write(plan.failure, &error, sizeof error);
    ::_exit(127);
  };
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != plan.owner) ::_exit(127);  // the owner died before we asked to be told
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (::dup2(plan.in, 0) < 0 || ::dup2(plan.out, 1) < 0 || ::dup2(plan.err, 2) < 0) fail();
  if (plan.directory && ::chdir(plan.directory)) fail();
  ::execve(plan.program.c_str(), plan.argv.data(), plan.environment.data());
  fail();
  ::_exit(127);
}

// Waits for the child until `deadline_ns`. True (and its status) when it ended.
bool wait_until(pid_t pid, int pidfd, int64_t deadline_ns, int& status) {
  for (;;) {
    const pid_t ended = ::waitpid(pid, &status, WNOHANG);
    if (ended == pid || (ended < 0 && errno != EINTR)) return true;
    const int64_t left_ms = (deadline_ns - monotonic_ns()) / kNsPerMs;
    if (left_ms <= 0) return false;
    pollfd entry{pidfd, POLLIN, 0};
    if (pidfd >= 0) {
      ::poll(&entry, 1, static_cast<int>(std::min<int64_t>(left_ms, 60'000)));
    } else {
      ::poll(nullptr, 0, static_cast<int>(std::min<int64_t>(left_ms, 10)));  // a kernel before 5.3
    }
  }
}

std::string tail(const std::string& text, size_t bytes) {
  std::string shown = text.size() > bytes ? "..." + text.substr(text.size() - bytes) : text;
  while (!shown.empty() && (shown.back() == '\n' || shown.back() == ' ')) shown.pop_back();
  return shown;
}

}  // namespace

std::string find_program(const std::string& name) {
  const auto usable = [](const std::string& path) {
    return ::access(path.c_str(), X_OK) == 0 && ::access((path + "/.").c_str(), F_OK) != 0;
  };
  if (name.empty()) return "";
  if (name.find('/') != std::string::npos) return usable(name) ? name : "";
  const char* variable = std::getenv("PATH");
  std::string path = variable ? variable : "/usr/local/bin:/usr/bin:/bin";
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder = end == begin ? "." : path.substr(begin, end - begin);
    if (usable(folder + "/" + name)) return folder + "/" + name;
    begin = end + 1;
  }
  return "";
}

CommandResult run_command(const std::vector<std::string>& argv, const CommandOptions& options) {
  if (argv.empty()) throw Error("cannot start a program without a name");
  ChildPlan plan;
  plan.program = find_program(argv[0]);
  if (plan.program.empty())
    throw Error(fmt::format("cannot start '{}': no such program on PATH", argv[0]));
  plan.argv_texts = argv;
  plan.environment_texts = environment_with(options.environment);
  plan.argv = pointers(plan.argv_texts);
  plan.environment = pointers(plan.environment_texts);
  if (!options.directory.empty()) plan.directory = options.directory.c_str();

  UniqueFd in = memory_file("stdin"), out = memory_file("stdout"), err = memory_file("stderr");
  fill(in.get(), options.input);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC))
    throw Error(fmt::format("cannot make a pipe: {}", errno_text(errno)));
  UniqueFd failure(ends[0]), failure_writer(ends[1]);
  plan.in = in.get(), plan.out = out.get(), plan.err = err.get(),
  plan.failure = failure_writer.get();
  plan.owner = ::getpid();

  const int64_t deadline_ns = monotonic_ns() + options.timeout_ns;
  const pid_t pid = ::fork();
  if (pid < 0) throw Error(fmt::format("cannot start '{}': {}", argv[0], errno_text(errno)));
  if (pid == 0) become(plan);
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  failure_writer.reset();
  int error = 0;
  ssize_t got;
  do got = ::read(failure.get(), &error, sizeof error);
  while (got < 0 && errno == EINTR);

  CommandResult result;
  int status = 0;
  if (got == sizeof error) {
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    throw Error(fmt::format("cannot start '{}'{}: {}", argv[0],
                            plan.directory ? fmt::format(" in {}", plan.directory) : "",
                            errno_text(error)));
  }
  if (!wait_until(pid, pidfd.get(), deadline_ns, status)) {
    result.timed_out = true;
    ::kill(pid, SIGTERM);
    if (!wait_until(pid, pidfd.get(), monotonic_ns() + kKillGraceNs, status)) {
      ::kill(pid, SIGKILL);
      while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
      }
    }
  }
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  result.out = content_of(out.get());
  result.err = content_of(err.get());
  return result;
}

std::string run_or_throw(const std::vector<std::string>& argv, const CommandOptions& options) {
  CommandResult result = run_command(argv, options);
  if (result.exit_code == 0 && !result.timed_out) return std::move(result.out);
  const std::string how =
      result.timed_out ? fmt::format("did not end within {} s", options.timeout_ns / kNsPerSecond)
                       : fmt::format("ended with {}", result.exit_code);
  const std::string said = tail(result.err.empty() ? result.out : result.err, 2000);
  throw Error(
      fmt::format("'{}' {}{}{}", fmt::join(argv, " "), how, said.empty() ? "" : ":\n", said));
}

}  // namespace cephmark
