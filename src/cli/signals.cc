#include "cli/signals.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "base/error.h"

namespace cephmark {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};
constexpr int kSignalCount = 5;
std::atomic<int> first_signal{0};
std::atomic<int> wake_fd{-1};
struct sigaction before[kSignalCount];

// Async-signal-safe: a flag, a byte into a pipe; the second time nothing may hold the exit up.
void on_signal(int number) {
  const int saved = errno;
  int none = 0;
  if (!first_signal.compare_exchange_strong(none, number)) ::_exit(128 + number);
  const char byte = 's';
  if (::write(wake_fd.load(), &byte, 1) != 1) ::_exit(128 + number);
  errno = saved;
}

// Whoever reads our output may go before we are done (`| head -1`): the write then fails with
// EPIPE, and the result is kept and the clean-up done all the same. So does a file that may not
// grow (EFBIG). Not SIG_IGN, which children inherit.
void on_failed_write(int) {}

}  // namespace

SignalWatcher::SignalWatcher(std::stop_source& source) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC)) throw Error("cannot make a pipe: " + errno_text(errno));
  read_end_.reset(ends[0]);
  write_end_.reset(ends[1]);
  wake_fd = write_end_.get();
  thread_ = std::jthread([this, &source](std::stop_token end) {
    std::stop_callback wake(end, [this] {
      const char byte = 'e';
      (void)!::write(write_end_.get(), &byte, 1);
    });
    char byte = 0;
    while (::read(read_end_.get(), &byte, 1) == 1 || errno == EINTR) {
      if (byte == 's') source.request_stop();
      if (end.stop_requested()) return;
    }
  });
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (int i = 0; i < kSignalCount; ++i) {
    const bool write_fails = kSignals[i] == SIGPIPE || kSignals[i] == SIGXFSZ;
    action.sa_handler = write_fails ? on_failed_write : on_signal;
    ::sigaction(kSignals[i], &action, &before[i]);
    // nohup(1) asks us to live on when the terminal goes.
    if (kSignals[i] == SIGHUP && before[i].sa_handler == SIG_IGN)
      ::sigaction(SIGHUP, &before[i], nullptr);
  }
}

SignalWatcher::~SignalWatcher() {
  for (int i = 0; i < kSignalCount; ++i) ::sigaction(kSignals[i], &before[i], nullptr);
  thread_.request_stop();
  thread_.join();
  wake_fd = -1;
}

int SignalWatcher::received() {
  return first_signal.load();
}

const char* SignalWatcher::reason() {
  switch (received()) {
    case SIGINT:
      return "interrupted (SIGINT)";
    case SIGTERM:
      return "interrupted (SIGTERM)";
    case SIGHUP:
      return "interrupted (SIGHUP)";
    default:
      return "";
  }
}

int SignalWatcher::exit_code() {
  return received() ? 128 + received() : 0;
}

}  // namespace cephmark
