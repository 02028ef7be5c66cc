// The time limits of the rbd engine while no OSD answers: at the open, and at the exclusive lock.
#include "engine_harness.h"
#include "paused_osds.h"
#include "support/ceph_test.h"

namespace cephmark {
namespace {

using test::EngineUnderTest;
using test::error_of;
using test::own_name;
using test::PausedOsds;
using testing::AllOf;
using testing::HasSubstr;
using testing_support::required_variable;

constexpr int64_t kLimit_ns = 2 * kNsPerSecond;
constexpr int64_t kFarBeyond_ns = 40 * kNsPerSecond;

class RbdLimits : public testing::Test {
 protected:
  void SetUp() override {
    cluster = Cluster::connect({});
    spec = {"rbd", "", own_name(testing::UnitTest::GetInstance()->current_test_info()->name()), ""};
    create_image(*cluster, spec, {.size_bytes = 16 << 20});
    under_test.plan.limits.open_timeout_ns = kLimit_ns;
    under_test.job().ioengine = "rbd";
    under_test.job().engine_options = {{"pool", "rbd"}, {"rbdname", spec.name}};
  }
  void TearDown() override {
    under_test.close();
    // What was given up comes back as soon as the OSDs answer, and stays open as long as this
    // process lives: the image is then in use, and goes with the lab.
    try {
      remove_image(*cluster, spec);
    } catch (const Error&) {
    }
  }

  std::shared_ptr<Cluster> cluster;
  ImageSpec spec;
  EngineUnderTest under_test;
};

TEST_F(RbdLimits, AnOpenThatNoOsdAnswersEndsAtItsLimitAndIsNamed) {
  PausedOsds paused(required_variable("CEPH_CONF"));
  ASSERT_TRUE(paused.any());
  const int64_t begin_ns = monotonic_ns();
  const std::string text = error_of([&] { under_test.open(); });
  EXPECT_GE(monotonic_ns() - begin_ns, kLimit_ns);
  EXPECT_LT(monotonic_ns() - begin_ns, kFarBeyond_ns);
  EXPECT_THAT(text, AllOf(HasSubstr(spec.text()), HasSubstr("client.admin"),
                          HasSubstr("did not return within 2 s"), HasSubstr("OSDs up")));
  under_test.close();
  EXPECT_LT(monotonic_ns() - begin_ns, kFarBeyond_ns);
}

TEST_F(RbdLimits, ALockThatNoOsdAnswersEndsAtItsLimitAndIsNamed) {
  under_test.open(false);
  PausedOsds paused(required_variable("CEPH_CONF"));
  ASSERT_TRUE(paused.any());
  const int64_t begin_ns = monotonic_ns();
  const std::string text = error_of([&] { under_test.engine->prepare(true, kLimit_ns); });
  EXPECT_GE(monotonic_ns() - begin_ns, kLimit_ns);
  EXPECT_LT(monotonic_ns() - begin_ns, kFarBeyond_ns);
  EXPECT_THAT(text, AllOf(HasSubstr("exclusive lock of " + spec.text()), HasSubstr("waited 2 s"),
                          HasSubstr("no OSD answered")));
  under_test.close();
  EXPECT_LT(monotonic_ns() - begin_ns, kFarBeyond_ns);
}

}  // namespace
}  // namespace cephmark
