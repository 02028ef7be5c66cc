#include "ceph/connect_args.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cephmark {
namespace {

using testing::ElementsAre;

TEST(ConnectArgs, UsersWithAndWithoutTypeAreTheSame) {
  EXPECT_EQ(full_user_name("bench"), "client.bench");
  EXPECT_EQ(full_user_name("client.bench"), "client.bench");
  EXPECT_EQ(full_user_name(""), "client.admin");
  EXPECT_EQ(full_user_name("rbd.mirror"), "client.rbd.mirror");
  EXPECT_EQ(full_user_name("client.rbd.mirror"), "client.rbd.mirror");
  EXPECT_EQ(full_user_name("osd.0"), "osd.0");
}

TEST(ConnectArgs, SplitsCephArgs) {
  EXPECT_THAT(split_ceph_args("--id  bench -c '/a b/ceph.conf' --x=\"y z\""),
              ElementsAre("--id", "bench", "-c", "/a b/ceph.conf", "--x=y z"));
  EXPECT_TRUE(split_ceph_args("  ").empty());
  EXPECT_THAT(split_ceph_args("''"), ElementsAre(""));
}

TEST(ConnectArgs, OurOptionsWinOverCephArgsOverCephConf) {
  const std::string environment_args = "--id bench --conf=/args.conf -k /args.keyring";
  const ConnectArgs all =
      settle_connect_args({"/mine.conf", "me", "/mine.keyring", ""}, "/env.conf", environment_args);
  EXPECT_EQ(all, (ConnectArgs{"/mine.conf", "client.me", "/mine.keyring", "ceph",
                              "--conf, or conf= of the job"}));
  const ConnectArgs args = settle_connect_args({}, "/env.conf", environment_args);
  EXPECT_EQ(args,
            (ConnectArgs{"/args.conf", "client.bench", "/args.keyring", "ceph", "CEPH_ARGS"}));
  const ConnectArgs conf = settle_connect_args({}, "/env.conf", "");
  EXPECT_EQ(conf, (ConnectArgs{"/env.conf", "client.admin", "", "ceph", "CEPH_CONF"}));
}

TEST(ConnectArgs, AClusterNameOfOursIsNotOverruledByCephConf) {
  const ConnectArgs args = settle_connect_args({"", "", "", "backup"}, "/env.conf", "");
  EXPECT_EQ(args.conf, "");
  EXPECT_EQ(args.cluster, "backup");
  EXPECT_EQ(
      args.text(),
      "conf /etc/ceph/backup.conf or ~/.ceph/backup.conf (default places), user client.admin");
}

TEST(ConnectArgs, FullNamesInCephArgs) {
  EXPECT_EQ(settle_connect_args({}, "", "-n client.x --cluster=c2").user, "client.x");
  EXPECT_EQ(settle_connect_args({}, "", "-n client.x --cluster=c2").cluster, "c2");
}

}  // namespace
}  // namespace cephmark
