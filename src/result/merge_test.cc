#include "result/merge.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "result/figures.h"
#include "support/test_result.h"

namespace cephmark {
namespace {

/// The result of a host that ran only the VMs [first, last) of the whole run.
RunResult part_of(const RunResult& whole, int first, int last, const std::string& host) {
  RunResult part = whole;
  part.vms.assign(whole.vms.begin() + first, whole.vms.begin() + last);
  part.environment.host["hostname"] = host;
  part.fleet_response = part.fleet_service = {};
  for (auto& slots : part.interval_response) slots.clear();
  for (const auto& vm : part.vms)
    for (const auto& job : vm.jobs)
      for (int i = 0; i < kOpCount; ++i) {
        if (!job.ops[i]) continue;
        part.fleet_response.merge(job.ops[i]->response);
        part.fleet_service.merge(job.ops[i]->service);
        auto& slots = part.interval_response[i];
        if (slots.size() < 17) slots.resize(17);
        slots[job.job * 9].merge(job.ops[i]->response);
      }
  return part;
}

TEST(Merge, PartsOfARunGiveTheWholeRun) {
  const RunResult whole = testing::make_test_result(5);
  const RunResult merged = merge_results({part_of(whole, 3, 5, "b"), part_of(whole, 0, 3, "a")});
  ASSERT_EQ(merged.vms.size(), 5u);
  const RunFigures expected = figures_of(whole), got = figures_of(merged);
  for (size_t i = 0; i < expected.stages.size(); ++i) {
    EXPECT_DOUBLE_EQ(got.stages[i].data.iops, expected.stages[i].data.iops);
    EXPECT_DOUBLE_EQ(got.stages[i].data.bytes_per_s, expected.stages[i].data.bytes_per_s);
    for (const double q : {0.5, 0.99, 0.9999})
      EXPECT_EQ(got.stages[i].response.quantile_ns(q), expected.stages[i].response.quantile_ns(q));
  }
  EXPECT_EQ(merged.fleet_response.count(), whole.fleet_response.count());
  EXPECT_EQ(merged.interval_response[0][0].count(), whole.interval_response[0][0].count());
  EXPECT_EQ(merged.allowed_cpus, 2 * whole.allowed_cpus);
  EXPECT_EQ(merged.witness.read_ops, whole.witness.read_ops);
  EXPECT_EQ(merged.environment.host.at("a: hostname"), "a");
}

TEST(Merge, OneHostTenTimesSlowerAndLonger) {
  const RunResult whole = testing::make_write_result(2);
  RunResult slow = part_of(whole, 1, 2, "b");
  slow.vms[0].jobs[0] = {};
  testing::record_job(slow.vms[0].jobs[0], whole.plan.vms[1].jobs[0], 0, 12 * kNsPerSecond,
                      30'000'000, 1);
  const RunResult merged = merge_results({part_of(whole, 0, 1, "a"), slow});
  const RunFigures figures = figures_of(merged);
  const StageFigures& stage = figures.stages.at(0);
  EXPECT_EQ(stage.rule, StageFigures::Rule::kCommonSlots);
  EXPECT_DOUBLE_EQ(stage.data.bytes_per_s,
                   stage.data.iops * 4096);  // IOPS x block size = bandwidth
  EXPECT_NEAR(stage.data.iops, figures.jobs[0].data.iops + figures.jobs[1].data.iops,
              stage.data.iops * 0.05);
  EXPECT_EQ(merged.measured_ns, 4 * kNsPerSecond);
}

TEST(Merge, RefusesWhatDoesNotBelongTogether) {
  const RunResult whole = testing::make_write_result(2);
  EXPECT_THROW(merge_results({}), Error);
  EXPECT_THROW(merge_results({whole, whole}), Error);
  EXPECT_THROW(merge_results({whole, testing::make_test_result(2)}), Error);
}

TEST(Merge, DoubtsOfAllPartsAreKept) {
  const RunResult whole = testing::make_write_result(2);
  RunResult a = part_of(whole, 0, 1, "a"), b = part_of(whole, 1, 2, "b");
  a.taints = {{"cache-mode", "same"}};
  b.taints = {{"cache-mode", "same"}, {"errors", "other"}};
  b.exact_percentiles = false;
  b.stop_reason = "interrupted (SIGINT)";
  const RunResult merged = merge_results({a, b});
  EXPECT_EQ(merged.taints.size(), 2u);
  EXPECT_FALSE(merged.exact_percentiles);
  EXPECT_EQ(merged.stop_reason, "interrupted (SIGINT)");
}

}  // namespace
}  // namespace cephmark
