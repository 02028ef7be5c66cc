// Runs strand_probe (see there for what it checks by itself) in both modes: cycles, limits, OSDs
// that stop answering, Ctrl-C once and twice. CEPH_CONF names the cluster. STRAND_CYCLES=1000 for
// the long proof.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstdlib>

#include "base/fd.h"
#include "base/json.h"
#include "base/time.h"
#include "paused_osds.h"

extern char** environ;

namespace cephmark {
namespace {

using test::PausedOsds;

std::string conf() {
  const char* value = std::getenv("CEPH_CONF");
  return value ? value : "";
}

// One run of the probe. Its standard error is read until the word "loaded" by wait_loaded().
class ProbeProcess {
 public:
  explicit ProbeProcess(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {STRAND_PROBE, "--prefix", "ceph-strand-test"});
    std::vector<char*> argv;
    for (auto& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    int out[2], err[2];
    if (::pipe2(out, O_CLOEXEC) || ::pipe2(err, O_CLOEXEC)) throw std::runtime_error("pipe2");
    out_.reset(out[0]);
    err_.reset(err[0]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, err[1], 2);
    const int rc = posix_spawn(&pid_, STRAND_PROBE, &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(out[1]);
    ::close(err[1]);
    if (rc) throw std::runtime_error("cannot start " STRAND_PROBE);
  }
  ~ProbeProcess() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  bool wait_loaded() {
    std::string line;
    char c;
    while (::read(err_.get(), &c, 1) == 1) {
      if (c != '\n') {
        line += c;
        continue;
      }
      if (line == "loaded") return true;
      ADD_FAILURE() << line;
      line.clear();
    }
    return false;
  }

  void signal(int number) { ::kill(pid_, number); }

  /// Exit code, or -1 when it did not end within the limit (then it is killed).
  int wait(double limit_s) {
    const int64_t end_ns = monotonic_ns() + static_cast<int64_t>(limit_s * 1e9);
    int status = 0;
    while (::waitpid(pid_, &status, WNOHANG) == 0) {
      if (monotonic_ns() > end_ns) return -1;
      ::usleep(5'000);
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  Json report() {
    std::string text;
    char block[4096];
    for (ssize_t n; (n = ::read(out_.get(), block, sizeof block)) > 0;) text.append(block, n);
    return parse_json(text, "strand_probe's report");
  }

 private:
  pid_t pid_ = -1;
  UniqueFd out_, err_;
};

void expect_sound(const Json& report) {
  SCOPED_TRACE(report.dump());
  EXPECT_EQ(report["lost_wakeups"], 0);
  EXPECT_EQ(report["twice"], 0);
  EXPECT_EQ(report["not_full"], 0);
  EXPECT_EQ(report["callbacks_after_shutdown"], 0);
  EXPECT_GT(report["issued"], 0);
}

struct Case {
  const char* mode;
  const char* connections;
};

class Strand : public testing::TestWithParam<Case> {
 protected:
  static void SetUpTestSuite() {
    ProbeProcess make({"--make", "--seconds", "0.1"});
    ASSERT_EQ(make.wait(300), 0);
  }
  static void TearDownTestSuite() {
    ProbeProcess remove({"--remove", "--seconds", "0.1", "--open-limit", "120"});
    EXPECT_EQ(remove.wait(300), 0);
  }
  std::vector<std::string> arguments(std::vector<std::string> more) {
    std::vector<std::string> all{"--mode", GetParam().mode, "--connections",
                                 GetParam().connections};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

TEST_P(Strand, StartsAndStopsAgainAndAgain) {
  const char* cycles = std::getenv("STRAND_CYCLES");
  ProbeProcess probe(
      arguments({"--cycles", cycles ? cycles : "20", "--reopen-every", "10", "--seconds", "0.03",
                 "--audit-every", "0.005", "--grace", "60", "--close-limit", "60"}));
  EXPECT_EQ(probe.wait(3600), 0);
  const Json report = probe.report();
  expect_sound(report);
  EXPECT_EQ(report["issued"], report["completed"]);
}

TEST_P(Strand, DrainsLanesHeldBackByALimit) {
  ProbeProcess probe(
      arguments({"--limited", "16", "--depth", "4", "--seconds", "2", "--write-percent", "50",
                 "--budget", "2", "--grace", "60", "--close-limit", "60"}));
  EXPECT_EQ(probe.wait(200), 0);
  const Json report = probe.report();
  expect_sound(report);
  EXPECT_EQ(report["issued"], report["completed"]);
  EXPECT_EQ(report["exit"], "closed");
}

TEST_P(Strand, InterruptedOnceWithAllOsdsStopped) {
  ProbeProcess probe(
      arguments({"--limited", "8", "--seconds", "100", "--grace", "2", "--close-limit", "2"}));
  ASSERT_TRUE(probe.wait_loaded());
  PausedOsds paused(conf());
  ASSERT_TRUE(paused.any());
  probe.signal(SIGINT);
  EXPECT_EQ(probe.wait(15), 130) << "grace 2 s, looking for lost wake-ups 2 s, 64 frozen lanes";
  paused.resume();
  const Json report = probe.report();
  expect_sound(report);
  EXPECT_EQ(report["exit"], "abandoned");
  EXPECT_EQ(report["issued"].get<uint64_t>(),
            report["completed"].get<uint64_t>() + report["abandoned"].get<uint64_t>());
  EXPECT_GT(report["abandoned"], 0);
}

TEST_P(Strand, InterruptedTwiceLeavesAtOnce) {
  ProbeProcess probe(arguments({"--seconds", "100", "--grace", "100"}));
  ASSERT_TRUE(probe.wait_loaded());
  PausedOsds paused(conf());
  ASSERT_TRUE(paused.any());
  probe.signal(SIGINT);
  ::usleep(300'000);  // two pending signals of one kind would be one
  probe.signal(SIGINT);
  EXPECT_EQ(probe.wait(10), 130);
  paused.resume();
  const Json report = probe.report();
  expect_sound(report);
  EXPECT_EQ(report["exit"], "second-signal");
}

TEST_P(Strand, InterruptedWhileOsdsComeBackWithinTheGraceClosesEverything) {
  ProbeProcess probe(arguments({"--seconds", "100", "--grace", "60", "--close-limit", "60"}));
  ASSERT_TRUE(probe.wait_loaded());
  {
    PausedOsds paused(conf());
    ASSERT_TRUE(paused.any());
    probe.signal(SIGINT);
    ::usleep(500'000);
  }
  EXPECT_EQ(probe.wait(150), 130);
  const Json report = probe.report();
  expect_sound(report);
  EXPECT_EQ(report["exit"], "closed");
  EXPECT_EQ(report["issued"], report["completed"]);
}

TEST_P(Strand, OpensThatDoNotReturnAreLeft) {
  PausedOsds paused(conf());
  ASSERT_TRUE(paused.any());
  ProbeProcess probe(arguments({"--open-limit", "2"}));
  EXPECT_EQ(probe.wait(20), 3);
  paused.resume();
}

INSTANTIATE_TEST_SUITE_P(Modes, Strand,
                         testing::Values(Case{"callback", "1"}, Case{"callback", "4"},
                                         Case{"worker", "1"}, Case{"worker", "4"}),
                         [](const auto& mode) {
                           return std::string(mode.param.mode) + "On" + mode.param.connections;
                         });

}  // namespace
}  // namespace cephmark
