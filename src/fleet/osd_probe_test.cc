#include "fleet/osd_probe.h"

#include <gtest/gtest.h>

namespace cephmark {
namespace {

TEST(OsdProbe, AVmPerOsdWritesThenReads) {
  OsdProbe probe;
  probe.pool = "p";
  const Plan plan = make_osd_probe_plan(
      probe, {{0, "a", "ssd", true}, {3, "b", "hdd", true}, {4, "c", "hdd", true}},
      {{0, {"x", "y"}}, {3, {"u", "v"}}});
  ASSERT_EQ(plan.vms.size(), 2u);  // osd.4 serves nothing
  EXPECT_EQ(plan.vms[1].name, "osd.3");
  EXPECT_EQ(plan.vms[1].host, "b");
  EXPECT_EQ(plan.vms[1].group, "hdd");
  EXPECT_EQ(plan.vms[1].index, 1);
  const JobSpec &writes = plan.vms[1].jobs[0], &reads = plan.vms[1].jobs[1];
  EXPECT_TRUE(writes.rw.writes && !writes.rw.reads && reads.rw.reads && !reads.rw.writes);
  EXPECT_EQ(writes.stage, 0);
  EXPECT_EQ(reads.stage, 1);  // no OSD reads while others write
  EXPECT_EQ(writes.filenames, std::vector<std::string>{"u"});
  EXPECT_EQ(reads.filenames, std::vector<std::string>{"v"});
  EXPECT_EQ(writes.iodepth, 1u);
}

}  // namespace
}  // namespace cephmark
