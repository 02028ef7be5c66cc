// What counts as one job of a fio report.
#include "output/fio_entries.h"

#include <gtest/gtest.h>

#include "support/test_result.h"

namespace cephmark {
namespace {

/// One VM, two sections in one reporting group, the first with two clones kept apart.
RunResult two_sections(bool group_reporting) {
  RunResult result = testing::make_test_result(1);
  for (auto& spec : result.plan.vms[0].jobs) {
    spec.group = 0;
    spec.group_reporting = group_reporting;
  }
  result.plan.vms[0].jobs[0].numjobs = 2;
  JobResult& job = result.vms[0].jobs[0];
  const JobResult clone = job;
  job.merge(clone);
  job.clones = {clone, clone};
  return result;
}

TEST(FioEntries, EveryCloneIsAJob) {
  const RunResult result = two_sections(false);
  const FioEntries entries(result);
  ASSERT_EQ(entries.all().size(), 3u);
  for (const auto& entry : entries.all()) EXPECT_EQ(entry.members, 1);
  EXPECT_EQ(2 * entries.all()[0].figures.data.ios, result.vms[0].jobs[0].find(Op::kRead)->ios +
                                                       result.vms[0].jobs[0].find(Op::kWrite)->ios);
}

TEST(FioEntries, AGroupIsOneJobOfAllItsSections) {
  const RunResult result = two_sections(true);
  const FioEntries entries(result);
  ASSERT_EQ(entries.all().size(), 1u);
  EXPECT_EQ(entries.all()[0].members, 3);
  uint64_t ios = 0;
  for (const auto& job : job_figures_of(result)) ios += job.data.ios;
  EXPECT_EQ(entries.all()[0].figures.data.ios, ios);
  EXPECT_EQ(entries.all()[0].figures.spec, &result.plan.vms[0].jobs[0]);
}

TEST(FioEntries, VmsAreNeverAddedUp) {
  RunResult result = testing::make_test_result(3);
  for (auto& vm : result.plan.vms)
    for (auto& spec : vm.jobs) spec.group_reporting = true;
  EXPECT_EQ(FioEntries(result).all().size(), 6u);
  EXPECT_EQ(FioEntries(result, 1).all().size(), 2u);
}

}  // namespace
}  // namespace cephmark
