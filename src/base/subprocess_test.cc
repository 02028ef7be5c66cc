#include "base/subprocess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "base/error.h"
#include "base/fd.h"
#include "base/time.h"

namespace cephmark {
namespace {

using testing::HasSubstr;

TEST(Subprocess, CollectsBothStreamsAndTheExitCode) {
  const CommandResult result = run_command({"sh", "-c", "echo out; echo err >&2; exit 7"});
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_EQ(result.exit_code, 7);
  EXPECT_FALSE(result.timed_out);
}

TEST(Subprocess, FeedsInputOfAnySizeAndReadsItBack) {
  CommandOptions options;
  options.input.assign(3'000'000, 'x');
  EXPECT_EQ(run_or_throw({"cat"}, options), options.input);
}

TEST(Subprocess, AChildThatIgnoresItsInputDoesNoHarm) {
  CommandOptions options;
  options.input.assign(1'000'000, 'x');
  EXPECT_EQ(run_command({"true"}, options).exit_code, 0);
}

TEST(Subprocess, NoShellTouchesTheArguments) {
  EXPECT_EQ(run_or_throw({"printf", "%s|", "a b", "$HOME", "*", "", "'"}), "a b|$HOME|*||'|");
}

TEST(Subprocess, EnvironmentIsAddedAndReplaced) {
  CommandOptions options;
  options.environment = {{"CEPHMARK_TEST_A", "1 2"}, {"HOME", "/nowhere"}};
  EXPECT_EQ(run_or_throw({"sh", "-c", "echo \"$CEPHMARK_TEST_A $HOME\""}, options),
            "1 2 /nowhere\n");
}

TEST(Subprocess, WorkingDirectory) {
  CommandOptions options;
  options.directory = "/";
  EXPECT_EQ(run_or_throw({"pwd"}, options), "/\n");
  options.directory = "/does/not/exist";
  try {
    run_command({"pwd"}, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("in /does/not/exist"));
  }
}

TEST(Subprocess, ATimeoutEndsTheChildEvenWhenItIgnoresTerm) {
  CommandOptions options;
  options.timeout_ns = 200 * kNsPerMs;
  const CommandResult result =
      run_command({"sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"}, options);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.exit_code, 128 + SIGKILL);
}

TEST(Subprocess, AGrandchildThatKeepsTheStreamsDoesNotHoldUsUp) {
  CommandOptions options;
  options.timeout_ns = 20 * kNsPerSecond;
  const CommandResult result = run_command({"sh", "-c", "sleep 30 & echo $!"}, options);
  EXPECT_FALSE(result.timed_out);
  ::kill(std::stoi(result.out), SIGKILL);
}

TEST(Subprocess, ErrorsNameTheCommandAndWhatItSaid) {
  try {
    run_or_throw({"sh", "-c", "echo no such pool >&2; exit 2"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("ended with 2:\nno such pool"));
  }
  EXPECT_THROW(run_command({"cephmark-no-such-program"}), Error);
  EXPECT_THROW(run_command({}), Error);
}

TEST(Subprocess, AChildDiesWithItsOwner) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    // The grandchild inherits the pipe's write end: the reader sees its end when both are gone.
    CommandOptions options;
    run_command({"sh", "-c", "echo started >&" + std::to_string(ends[1]) + "; exec sleep 600"},
                options);
    ::_exit(0);
  }
  ::close(ends[1]);
  char text[16];
  ASSERT_GT(::read(ends[0], text, sizeof text), 0);
  ::kill(owner, SIGKILL);
  EXPECT_EQ(::read(ends[0], text, sizeof text), 0);  // would hang until the test's time limit
  ::close(ends[0]);
  ::waitpid(owner, nullptr, 0);
}

TEST(Subprocess, ManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<std::string> texts(8);
  for (size_t i = 0; i < texts.size(); ++i)
    threads.emplace_back([&, i] { texts[i] = run_or_throw({"echo", std::to_string(i)}); });
  for (auto& thread : threads) thread.join();
  for (size_t i = 0; i < texts.size(); ++i) EXPECT_EQ(texts[i], std::to_string(i) + "\n");
}

TEST(Subprocess, FindProgram) {
  EXPECT_THAT(find_program("sh"), HasSubstr("/sh"));
  EXPECT_EQ(find_program("/bin/sh"), "/bin/sh");
  EXPECT_EQ(find_program("cephmark-no-such-program"), "");
  EXPECT_EQ(find_program("/usr"), "");
}

}  // namespace
}  // namespace cephmark
