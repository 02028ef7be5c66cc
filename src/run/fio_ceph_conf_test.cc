#include "run/fio_ceph_conf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace cephmark {
namespace {

using testing::HasSubstr;
using testing::Not;

class FioCephConfTest : public testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("CEPH_ARGS");
    ::unsetenv("CEPH_CONF");
  }
};

Plan rbd_plan(const std::string& clientname, const std::string& engine = "rbd") {
  Plan plan;
  VmPlan vm;
  JobSpec job;
  job.source = "t.fio:1";
  job.ioengine = engine;
  if (!clientname.empty()) job.engine_options["clientname"] = clientname;
  vm.jobs = {job};
  plan.vms = {vm};
  return plan;
}

TEST_F(FioCephConfTest, KeyringAndCacheGoIntoTheClientsOwnSection) {
  Plan plan = rbd_plan("bench");
  plan.ceph.keyring = "/etc/k";
  const std::string text = fio_ceph_conf_text("[global]\nkeyring = /other", plan, {});
  EXPECT_THAT(text, testing::StartsWith("[global]\nkeyring = /other\n"));
  EXPECT_THAT(text, HasSubstr("[client.bench]\nkeyring = /etc/k\nrbd_cache = false\n"));
  plan.rbd_cache = RbdCache::kAsFio;
  EXPECT_THAT(fio_ceph_conf_text("", plan, {}), Not(HasSubstr("rbd_cache")));
}

TEST_F(FioCephConfTest, WhatFioCannotDoIsRefused) {
  EXPECT_NO_THROW(check_fio_ceph_jobs(rbd_plan("admin")));
  EXPECT_THROW(check_fio_ceph_jobs(rbd_plan("client.admin")), UsageError);

  Plan other_user = rbd_plan("");
  other_user.ceph.user = "client.admin";
  EXPECT_NO_THROW(check_fio_ceph_jobs(other_user));
  other_user.ceph.user = "bench";
  try {
    check_fio_ceph_jobs(other_user);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the user 'bench' cannot be given to it"));
    EXPECT_THAT(error.hint(), HasSubstr("clientname=bench"));
  }
  ::setenv("CEPH_ARGS", "--id bench", 1);
  EXPECT_THROW(check_fio_ceph_jobs(rbd_plan("admin")), UsageError);
  ::unsetenv("CEPH_ARGS");

  Plan rados = rbd_plan("admin", "rados");
  EXPECT_NO_THROW(check_fio_ceph_jobs(rados));
  rados.ceph.conf = "/srv/ceph.conf";
  EXPECT_THROW(check_fio_ceph_jobs(rados), UsageError);
  rados.vms[0].jobs[0].engine_options["conf"] = "/srv/ceph.conf";
  EXPECT_NO_THROW(check_fio_ceph_jobs(rados));
}

TEST_F(FioCephConfTest, AMissingConfNamesThePlaces) {
  Plan plan = rbd_plan("admin");
  plan.ceph.conf = "/nowhere/a.conf,/nowhere/b.conf";
  try {
    prepare_fio_ceph(plan, "/tmp");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nowhere/a.conf, /nowhere/b.conf"));
  }
  EXPECT_TRUE(prepare_fio_ceph(rbd_plan("", "null"), "/tmp").empty());
}

}  // namespace
}  // namespace cephmark
