// Labs that come and go: cut off, beside each other, in the way of others, and refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <filesystem>

#include "base/fd.h"
#include "lab/lab.h"
#include "lab/lab_state.h"
#include "lab/network.h"
#include "support/ceph_test.h"

namespace cephmark {
namespace {

using testing::HasSubstr;
using testing_support::cephmark;
using testing_support::eventually;

class LabLifecycle : public testing::Test {
 protected:
  void SetUp() override { ::unsetenv("CEPHMARK_LAB_DIR"); }
  void TearDown() override {
    for (const char* name : {"a", "b"}) lab_down(directory(name), {});
  }
  std::string directory(const std::string& name) const { return base_.path() + "/" + name; }
  static CommandResult up(const std::string& where, std::vector<std::string> more = {}) {
    std::vector<std::string> argv = {"lab",        "up", "--osds", "1",
                                     "--osd-size", "1G", "--dir",  where};
    argv.insert(argv.end(), more.begin(), more.end());
    return cephmark(argv);
  }
  /// Its one OSD is up and all placement groups are active+clean, and they stay so.
  static bool is_whole(const Lab& lab) {
    for (int look = 0; look < 3; ++look) {
      const Json status = lab.ceph_json({"status"});
      const Json& states = status.at("pgmap").at("pgs_by_state");
      if (status.at("osdmap").at("num_up_osds") != 1 || states.size() != 1 ||
          states.at(0).at("state_name") != "active+clean")
        return false;
      ::usleep(200'000);
    }
    return true;
  }
  testing_support::TemporaryDirectory base_;
};

TEST_F(LabLifecycle, TwoSideBySideAndDownEndsOnlyItsOwn) {
  const CommandResult a = up(directory("a")), b = up(directory("b"), {"--store", "memstore"});
  ASSERT_EQ(a.exit_code, 0) << a.err;
  ASSERT_EQ(b.exit_code, 0) << b.err;
  const Lab lab = Lab::open(directory("b"));
  const Json health = lab.ceph_json({"health"});
  for (const auto& check : health.at("checks").items())
    EXPECT_EQ(check.key(), "MGR_MODULE_DEPENDENCY") << health;  // Debian 13's manager, see lab_test
  EXPECT_EQ(cephmark({"lab", "down", "--dir", directory("a")}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(directory("a")));
  for (const LabDaemon& daemon : lab.daemons())
    EXPECT_EQ(daemon.state, ProcessState::kRunning) << daemon.name;
  EXPECT_EQ(lab.ceph_json({"status"}).at("fsid"), lab.fsid());
  EXPECT_EQ(cephmark({"lab", "down", "--dir", directory("a")}).exit_code, 0);
}

TEST_F(LabLifecycle, AnUpThatIsKilledLeavesNothingInTheWay) {
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string program = testing_support::required_variable("CEPHMARK");
    ::execl(program.c_str(), "cephmark", "lab", "up", "--quiet", "--osds", "1", "--osd-size", "1G",
            "--dir", directory("a").c_str(), nullptr);
    ::_exit(127);
  }
  LabState state;
  ASSERT_TRUE(eventually([&] {
    const auto found = load_lab_state(directory("a"));
    if (found) state = *found;
    return state.processes.contains("mon.a");
  }));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(cephmark({"lab", "exec", "--dir", directory("a"), "--", "ceph", "-s"}).exit_code, 3);
  const ProcessId orphan = load_lab_state(directory("a"))->processes.at("mon.a");
  const CommandResult again = up(directory("a"));
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("starting afresh"));
  EXPECT_EQ(process_state(orphan), ProcessState::kGone);
}

TEST_F(LabLifecycle, WhatWasKilledIsWholeAgainAndAMonitorWhosePortIsTakenMoves) {
  ASSERT_EQ(up(directory("a")).exit_code, 0);
  // Nobody has told the monitor that its OSD is dead: the map still has it up.
  const ProcessId osd = load_lab_state(directory("a"))->processes.at("osd.0");
  signal_process(osd, SIGKILL);
  ASSERT_TRUE(wait_process_gone(osd, 60 * kNsPerSecond));
  const CommandResult revived = up(directory("a"));
  EXPECT_EQ(revived.exit_code, 0) << revived.err;
  EXPECT_TRUE(is_whole(Lab::open(directory("a"))));

  const LabState before = *load_lab_state(directory("a"));
  for (const auto& [name, id] : before.processes) signal_process(id, SIGKILL);
  for (const auto& [name, id] : before.processes)
    ASSERT_TRUE(wait_process_gone(id, 60 * kNsPerSecond));
  const ProcessId thief = start_daemon(
      {{"python3", "-c",
        "import socket,time\ns=socket.socket()\ns.setsockopt(1,2,1)\ns.bind(('127.0.0.1'," +
            std::to_string(before.setup.mon_v2_port) + "))\ns.listen()\nopen('" + base_.path() +
            "/listening','w')\ntime.sleep(600)"},
       {{"PATH", "/usr/bin:/bin"}},
       base_.path() + "/thief"},
      [](const ProcessId&) {});
  // Its own word, for the port looks taken already while connections of the dead monitor fade.
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(base_.path() + "/listening"); }));
  const CommandResult mended = up(directory("a"));
  EXPECT_EQ(mended.exit_code, 0) << mended.err;
  EXPECT_NE(load_lab_state(directory("a"))->setup.mon_v2_port, before.setup.mon_v2_port);
  EXPECT_TRUE(is_whole(Lab::open(directory("a"))));
  signal_process(thief, SIGKILL);
}

// What was in the memory of the only OSD cannot come back: the lab is whole again, but empty.
TEST_F(LabLifecycle, WhatWasKilledWithItsDataInMemoryIsMadeAnew) {
  ASSERT_EQ(up(directory("a"), {"--store", "memstore"}).exit_code, 0);
  const Lab before = Lab::open(directory("a"));
  const ProcessId osd = load_lab_state(directory("a"))->processes.at("osd.0");
  signal_process(osd, SIGKILL);
  ASSERT_TRUE(wait_process_gone(osd, 60 * kNsPerSecond));
  const CommandResult revived = up(directory("a"));
  EXPECT_EQ(revived.exit_code, 0) << revived.err;
  EXPECT_THAT(revived.err, HasSubstr("osd.0 died with the only copies of data"));
  const Lab after = Lab::open(directory("a"));
  EXPECT_TRUE(is_whole(after));
  EXPECT_NE(after.fsid(), before.fsid());
  EXPECT_EQ(after.setup().store, "memstore");
}

TEST_F(LabLifecycle, ARecycledPidIsLeftAlone) {
  std::filesystem::create_directories(directory("a"));
  const ProcessId stranger =
      start_daemon({{"sleep", "600"}, {{"PATH", "/usr/bin:/bin"}}, base_.path() + "/stranger"},
                   [](const ProcessId&) {});
  LabState state;
  state.processes["osd.0"] = stranger;
  state.processes["osd.0"].start_ticks -= 1;
  save_lab_state(directory("a"), state);
  EXPECT_EQ(cephmark({"lab", "down", "--dir", directory("a")}).exit_code, 0);
  EXPECT_EQ(process_state(stranger), ProcessState::kRunning);
  signal_process(stranger, SIGKILL);
}

TEST_F(LabLifecycle, ForeignFilesStay) {
  std::filesystem::create_directories(directory("foreign"));
  write_file_atomically(directory("foreign") + "/precious", "x");
  for (const char* verb : {"up", "down"}) {
    const CommandResult result = cephmark({"lab", verb, "--dir", directory("foreign")});
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_THAT(result.err, HasSubstr("is not a lab: it stays as it is"));
  }
  EXPECT_TRUE(std::filesystem::exists(directory("foreign") + "/precious"));
}

TEST_F(LabLifecycle, WhatCannotBeMadeIsRefusedBeforeAnythingStarts) {
  const CommandResult space =
      cephmark({"lab", "up", "--osd-size", "900T", "--dir", directory("a")});
  EXPECT_EQ(space.exit_code, 3);
  EXPECT_THAT(space.err, HasSubstr("GiB free"));
  EXPECT_THAT(up(directory("a"), {"--bind", "192.0.2.1"}).err,
              HasSubstr("this machine does not have that address"));
  EXPECT_EQ(up(directory("a"), {"--replicas", "2"}).exit_code, 2);
  EXPECT_EQ(up(directory("a"), {"--store", "filestore"}).exit_code, 2);
  EXPECT_EQ(up("/proc/lab").exit_code, 3);
  CommandOptions bare;
  bare.environment = {{"PATH", base_.path()}};
  const CommandResult missing = cephmark({"lab", "up", "--dir", directory("a")}, bare);
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_THAT(missing.err,
              HasSubstr("apt install ceph-mon ceph-mgr ceph-osd ceph-common ceph-base"));
  EXPECT_FALSE(load_lab_state(directory("a")));
}

}  // namespace
}  // namespace cephmark
