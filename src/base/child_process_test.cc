#include "base/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>

#include "base/error.h"
#include "base/time.h"
#include "support/temporary_directory.h"

namespace cephmark {
namespace {

constexpr int64_t kGenerous_ns = 60 * kNsPerSecond;

void wait_for_end(ChildProcess& child) {
  const int64_t limit_ns = monotonic_ns() + kGenerous_ns;
  while (child.running() && monotonic_ns() < limit_ns) ChildProcess::wait_any({&child}, limit_ns);
  ASSERT_FALSE(child.running());
}

class ChildProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.out_path = directory_ + "/out";
    options_.err_path = directory_ + "/err";
  }
  std::string out() const { return read_file(options_.out_path); }

  testing_support::TemporaryDirectory scratch_;
  const std::string directory_ = scratch_.path();
  ChildOptions options_;
};

TEST_F(ChildProcessTest, StreamsGoToFilesAndInputIsEmpty) {
  options_.environment = {{"WORD", "hello"}};
  auto child =
      ChildProcess::start({"sh", "-c", "echo $WORD; cat; echo oops >&2; exit 7"}, options_);
  wait_for_end(child);
  EXPECT_EQ(child.exit_code(), 7);
  EXPECT_EQ(child.signal_number(), 0);
  EXPECT_EQ(out(), "hello\n");
  EXPECT_EQ(read_file(options_.err_path), "oops\n");
  EXPECT_GT(child.ended_ns(), 0);
  EXPECT_GT(child.usage().ru_maxrss, 0);
}

TEST_F(ChildProcessTest, LeadsItsOwnGroupAndTakesItAlongWhenItEnds) {
  auto child = ChildProcess::start({"sh", "-c", "sleep 300 & echo $!; sleep 300"}, options_);
  EXPECT_EQ(::getpgid(child.pid()), child.pid());
  const int64_t limit_ns = monotonic_ns() + kGenerous_ns;
  while (out().find('\n') == std::string::npos && monotonic_ns() < limit_ns) ::usleep(1000);
  const pid_t grandchild = std::stoi(out());
  child.signal(SIGKILL);
  wait_for_end(child);
  EXPECT_EQ(child.exit_code(), 128 + SIGKILL);
  EXPECT_EQ(child.signal_number(), SIGKILL);
  // Gone, or a dead entry that nobody has collected yet.
  const auto gone = [&] {
    if (::kill(grandchild, 0) != 0) return true;
    const std::string stat = read_file("/proc/" + std::to_string(grandchild) + "/stat");
    return stat.find(") Z") != std::string::npos;
  };
  try {
    while (!gone() && monotonic_ns() < limit_ns) ::usleep(1000);
    EXPECT_TRUE(gone());
  } catch (const Error&) {  // its entry went while we looked
  }
}

TEST_F(ChildProcessTest, EndsWithItsOwner) {
  pid_t pid = 0;
  {
    auto child = ChildProcess::start({"sleep", "300"}, options_);
    pid = child.pid();
    auto moved = std::move(child);
    EXPECT_TRUE(moved.running());
  }
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST_F(ChildProcessTest, WaitingEndsWithTheFirstOfThem) {
  auto slow = ChildProcess::start({"sleep", "300"}, {});
  auto quick = ChildProcess::start({"true"}, {});
  const int64_t limit_ns = monotonic_ns() + kGenerous_ns;
  while (quick.running()) ChildProcess::wait_any({&slow, &quick}, limit_ns);
  EXPECT_LT(monotonic_ns(), limit_ns);
  EXPECT_TRUE(slow.running());
  ChildProcess::wait_any({&slow}, monotonic_ns() + kNsPerMs);  // comes back though nothing ended
  EXPECT_TRUE(slow.running());
}

TEST_F(ChildProcessTest, RunsOnAsManyCpusAsAllowed) {
  options_.max_cpus = 1;
  auto child = ChildProcess::start({"nproc"}, options_);
  wait_for_end(child);
  EXPECT_EQ(out(), "1\n");
}

TEST_F(ChildProcessTest, WhatCannotBeStartedIsNamed) {
  EXPECT_THROW(ChildProcess::start({"/nowhere/program"}, {}), Error);
  EXPECT_THROW(ChildProcess::start({}, {}), Error);
  options_.out_path = "/nowhere/out";
  try {
    ChildProcess::start({"true"}, options_);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("/nowhere/out"));
  }
}

}  // namespace
}  // namespace cephmark
