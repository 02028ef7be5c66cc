#include "lab/process.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/fd.h"
#include "base/time.h"
#include "support/temporary_directory.h"

namespace cephmark {
namespace {

constexpr int64_t kLongNs = 30 * kNsPerSecond;

class ProcessTest : public testing::Test {
 protected:
  DaemonSpec spec(std::vector<std::string> argv) const {
    return {std::move(argv), {{"PATH", "/usr/bin:/bin"}}, directory_ + "/output"};
  }
  static void ignore(const ProcessId&) {}
  testing_support::TemporaryDirectory scratch_;
  const std::string directory_ = scratch_.path();
};

TEST_F(ProcessTest, StatWithAwkwardNames) {
  uint64_t ticks = 0;
  char state = 0;
  EXPECT_TRUE(parse_proc_stat(
      "42 (a) b (c) d) T 1 42 42 0 -1 4 1 1 0 0 0 0 0 0 20 0 1 0 987654 1 2 3", ticks, state));
  EXPECT_EQ(ticks, 987654u);
  EXPECT_EQ(state, 'T');
  EXPECT_FALSE(parse_proc_stat("42 nothing", ticks, state));
  EXPECT_FALSE(parse_proc_stat("42 (x) S 1 2", ticks, state));
}

TEST_F(ProcessTest, IsRecordedBeforeItRunsAndIsADaemon) {
  ProcessId recorded;
  const std::string witness = directory_ + "/ran";
  const ProcessId id = start_daemon(spec({"sh", "-c", "touch " + witness + "; exec sleep 600"}),
                                    [&](const ProcessId& known) {
                                      recorded = known;
                                      EXPECT_FALSE(std::filesystem::exists(witness));
                                    });
  EXPECT_EQ(recorded, id);
  EXPECT_EQ(process_state(id), ProcessState::kRunning);
  EXPECT_NE(::getsid(id.pid), ::getsid(0));
  EXPECT_EQ(::waitpid(id.pid, nullptr, WNOHANG), -1);  // not our child
  EXPECT_TRUE(signal_process(id, SIGKILL));
  EXPECT_TRUE(wait_process_gone(id, kLongNs));
  EXPECT_FALSE(signal_process(id, SIGKILL));
}

TEST_F(ProcessTest, NothingRunsWhenItCannotBeRecorded) {
  const std::string witness = directory_ + "/ran";
  ProcessId known;
  EXPECT_THROW(start_daemon(spec({"touch", witness}),
                            [&](const ProcessId& id) {
                              known = id;
                              throw Error("disk full");
                            }),
               Error);
  EXPECT_TRUE(wait_process_gone(known, kLongNs));
  EXPECT_FALSE(std::filesystem::exists(witness));
}

TEST_F(ProcessTest, PauseAndResume) {
  const ProcessId id = start_daemon(spec({"sleep", "600"}), ignore);
  const auto reaches = [&](ProcessState wanted) {
    for (int64_t end = monotonic_ns() + kLongNs; monotonic_ns() < end; ::usleep(1000))
      if (process_state(id) == wanted) return true;
    return false;
  };
  EXPECT_TRUE(signal_process(id, SIGSTOP));
  EXPECT_TRUE(reaches(ProcessState::kPaused));
  EXPECT_TRUE(signal_process(id, SIGCONT));
  EXPECT_TRUE(reaches(ProcessState::kRunning));
  EXPECT_TRUE(signal_process(id, SIGKILL));
  EXPECT_TRUE(wait_process_gone(id, kLongNs));
}

TEST_F(ProcessTest, ARecycledPidIsNotTheProcess) {
  const ProcessId id = start_daemon(spec({"sleep", "600"}), ignore);
  ProcessId earlier = id, other_boot = id;
  earlier.start_ticks -= 1;
  other_boot.boot_id = "00000000-0000-0000-0000-000000000000";
  for (const ProcessId& stranger : {earlier, other_boot}) {
    EXPECT_EQ(process_state(stranger), ProcessState::kGone);
    EXPECT_FALSE(signal_process(stranger, SIGKILL));
  }
  EXPECT_EQ(process_state(id), ProcessState::kRunning);
  signal_process(id, SIGKILL);
  EXPECT_TRUE(wait_process_gone(id, kLongNs));
}

TEST_F(ProcessTest, AZombieIsGone) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t info;
  ASSERT_EQ(::waitid(P_PID, child, &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(identify_process(child).pid, 0);
  ::waitpid(child, nullptr, 0);
}

TEST_F(ProcessTest, InheritsNothingOfOurs) {
  ::setenv("CEPH_ARGS", "--conf /production.conf", 1);
  const ProcessId id =
      start_daemon(spec({"sh", "-c", "echo args=$CEPH_ARGS; ls /proc/self/fd | wc -l"}), ignore);
  ::unsetenv("CEPH_ARGS");
  EXPECT_TRUE(wait_process_gone(id, kLongNs));
  EXPECT_EQ(read_file(directory_ + "/output"), "args=\n4\n");  // 0, 1, 2 and the folder being read
}

TEST_F(ProcessTest, ProgramsThatCannotBeStarted) {
  EXPECT_THROW(start_daemon(spec({"cephmark-no-such-program"}), ignore), Error);
  const std::string broken = directory_ + "/broken";
  write_file_atomically(broken, "#!/no/such/interpreter\n", 0755);
  EXPECT_THROW(start_daemon(spec({broken}), ignore), Error);
}

}  // namespace
}  // namespace cephmark
