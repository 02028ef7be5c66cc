// The shared lab as its users meet it: status, exec, faults of one OSD and their repair.
#include "lab/lab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "base/fd.h"
#include "base/json.h"
#include "support/ceph_test.h"

namespace cephmark {
namespace {

using testing::HasSubstr;
using testing_support::cephmark;
using testing_support::eventually;

int osds_up(const Lab& lab) {
  return lab.ceph_json({"osd", "stat"}).at("num_up_osds").get<int>();
}

TEST(Lab, IsCompleteHealthyAndOnItsOwn) {
  const CommandResult status = cephmark({"lab", "status", "--json"});
  ASSERT_EQ(status.exit_code, 0) << status.err;
  const Json document = parse_json(status.out, "status");
  // Modules of Debian 13's manager that cannot be loaded are no fault of the lab.
  for (const auto& check : document.at("cluster").at("health").at("checks").items())
    EXPECT_EQ(check.key(), "MGR_MODULE_DEPENDENCY") << status.out;
  EXPECT_EQ(document.at("cluster").at("pgmap").at("pgs_by_state").at(0).at("state_name"),
            "active+clean");
  EXPECT_EQ(document.at("cluster").at("fsid"), document.at("fsid"));
  for (const Json& daemon : document.at("daemons"))
    EXPECT_EQ(daemon.at("state"), "running") << daemon.dump();
}

TEST(Lab, ExecReachesTheLabWhateverTheEnvironmentSays) {
  CommandOptions elsewhere;
  elsewhere.environment = {{"CEPH_CONF", "/no/such.conf"},
                           {"CEPH_ARGS", "--conf /no/such.conf"},
                           {"CEPH_KEYRING", "/no/such.keyring"}};
  const CommandResult result = cephmark({"lab", "exec", "--", "ceph", "fsid"}, elsewhere);
  EXPECT_EQ(result.out, Lab::open().fsid() + "\n") << result.err;
  EXPECT_EQ(cephmark({"lab", "exec", "--", "sh", "-c", "exit 9"}).exit_code, 9);
}

TEST(Lab, KeysAreNeeded) {
  const CommandResult result = run_command({"ceph", "-c", testing_support::lab_conf(), "--keyring",
                                            "/dev/null", "--connect-timeout", "20", "fsid"});
  EXPECT_NE(result.exit_code, 0);
}

TEST(Lab, EnvIsReadByAShell) {
  const CommandResult env = cephmark({"lab", "env"});
  EXPECT_EQ(run_or_throw({"sh", "-c", env.out + "\necho \"$CEPH_CONF\""}),
            Lab::open().conf_path() + "\n");
}

// Slow operations are no trouble on a machine that carries a cluster and its load.
TEST(Lab, TheGuardIsOffInItUnlessItIsAskedFor) {
  const testing_support::TemporaryDirectory scratch;
  const std::string job = scratch.path() + "/j.fio";
  write_file_atomically(job, "[j]\nioengine=null\nrw=read\nsize=4k\n");
  const auto guard_of_run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {"run", job, "--quiet", "--no-keep", "--output", "json"};
    words.insert(words.end(), more.begin(), more.end());
    const CommandResult result = cephmark(words);
    const Json document = parse_json(result.out, result.err);
    return document.at("plan").at("guard");
  };
  const Json none = {{"slow_ops", false}, {"inactive_pgs", false}, {"nearfull", false}};
  EXPECT_EQ(guard_of_run({}), none);
  EXPECT_EQ(guard_of_run({"--guard", "nearfull"}).at("nearfull"), true);
  EXPECT_EQ(guard_of_run({"--guard", "all"}).at("slow_ops"), true);
  EXPECT_EQ(guard_of_run({"--conf", "/etc/ceph/ceph.conf"}).at("slow_ops"), true);
}

TEST(Lab, UpIsIdempotentAndRefusesAnotherShape) {
  const auto before = Lab::open();
  EXPECT_EQ(cephmark({"lab", "up"}).exit_code, 0);
  EXPECT_EQ(Lab::open().pid("osd.0"), before.pid("osd.0"));
  const CommandResult other = cephmark({"lab", "up", "--osds", "5"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("was made with --osds 3, not 5"));
}

TEST(Lab, AKilledOsdIsMended) {
  const pid_t pid = Lab::open().pid("osd.1");
  ASSERT_GT(pid, 0);
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  EXPECT_TRUE(eventually([] { return Lab::open().pid("osd.1") == 0; }));
  EXPECT_EQ(cephmark({"lab", "status"}).exit_code, 3);
  const CommandResult up = cephmark({"lab", "up"});
  EXPECT_EQ(up.exit_code, 0) << up.err;
  EXPECT_THAT(up.err, HasSubstr("osd.1 does not run: starting it"));
  const Lab lab = Lab::open();
  EXPECT_NE(lab.pid("osd.1"), pid);
  EXPECT_EQ(osds_up(lab), 3);
}

TEST(Lab, AnOsdIsStoppedAndStarted) {
  EXPECT_EQ(cephmark({"lab", "osd", "stop", "2"}).exit_code, 0);
  EXPECT_EQ(Lab::open().pid("osd.2"), 0);
  EXPECT_TRUE(eventually([] { return osds_up(Lab::open()) == 2; }));
  EXPECT_EQ(cephmark({"lab", "osd", "pause", "2"}).exit_code, 3);
  EXPECT_EQ(cephmark({"lab", "osd", "start", "2"}).exit_code, 0);
  EXPECT_EQ(osds_up(Lab::open()), 3);
  EXPECT_EQ(cephmark({"lab", "osd", "stop", "3"}).exit_code, 2);
}

TEST(Lab, AnOsdIsPausedAndGoesOn) {
  Lab lab = Lab::open();
  lab.pause_osd(0);
  EXPECT_EQ(lab.daemons().at(2).state, ProcessState::kPaused);
  lab.resume_osd(0);
  EXPECT_TRUE(eventually([&] { return lab.daemons().at(2).state == ProcessState::kRunning; }));
  lab.pause_osd(0);
  EXPECT_EQ(cephmark({"lab", "up"}).exit_code, 0);
  EXPECT_EQ(lab.daemons().at(2).state, ProcessState::kRunning);
}

}  // namespace
}  // namespace cephmark
