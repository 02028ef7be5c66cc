#include "result/figures.h"

#include <gtest/gtest.h>

#include "support/test_result.h"

namespace cephmark {
namespace {

using Rule = StageFigures::Rule;

/// One VM x job that completed `per_slot` I/Os of 4 KiB in every slot of [start, end).
void add_steady_vm(RunResult& result, int64_t start_ns, int64_t end_ns, uint64_t per_slot) {
  VmPlan plan;
  plan.name = "vm-" + std::to_string(result.vms.size());
  plan.index = static_cast<int>(result.vms.size());
  plan.jobs = {testing::make_job("read", "randread", 4096, 2)};
  VmResult vm;
  vm.vm = plan.index;
  JobResult job;
  OpResult& op = job.op(Op::kRead);
  const int64_t slot_ns = op.series.slot_ns();
  for (int64_t slot = start_ns / slot_ns; slot < end_ns / slot_ns; ++slot) {
    op.series.at(slot).ios = per_slot;
    op.series.at(slot).bytes = per_slot * 4096;
    op.ios += per_slot;
    op.bytes += per_slot * 4096;
    op.response.add(1'000'000, per_slot);
    op.service.add(1'000'000, per_slot);
  }
  job.phases = {{PhaseKind::kMeasure, 0, start_ns, end_ns}};
  vm.jobs = {job};
  result.plan.vms.push_back(plan);
  result.vms.push_back(vm);
}

TEST(Figures, EqualWindowsAreDividedByTheWholeTime) {
  RunResult result;
  add_steady_vm(result, 0, 10 * kNsPerSecond, 500);
  add_steady_vm(result, 0, 10 * kNsPerSecond, 250);
  const StageFigures stage = figures_of(result).stages.at(0);
  EXPECT_EQ(stage.rule, Rule::kWhole);
  EXPECT_DOUBLE_EQ(stage.data.iops, 1500);
  EXPECT_DOUBLE_EQ(stage.data.bytes_per_s, 1500 * 4096);
  EXPECT_DOUBLE_EQ(stage.achieved_depth, 1.5);
  EXPECT_EQ(stage.requested_depth, 4u);
}

TEST(Figures, AStragglerCountsOnlyWhileAllRun) {
  RunResult result;
  add_steady_vm(result, 0, 10 * kNsPerSecond, 500);                // 1,000 IOPS
  add_steady_vm(result, 2 * kNsPerSecond, 40 * kNsPerSecond, 50);  // 100 IOPS, 4 times as long
  const StageFigures stage = figures_of(result).stages.at(0);
  EXPECT_EQ(stage.rule, Rule::kCommonSlots);
  EXPECT_EQ(stage.common_start_ns, 2 * kNsPerSecond);
  EXPECT_EQ(stage.common_end_ns, 10 * kNsPerSecond);
  EXPECT_DOUBLE_EQ(stage.data.iops, 1100);
  EXPECT_DOUBLE_EQ(stage.data.bytes_per_s, stage.data.iops * 4096);
  EXPECT_DOUBLE_EQ(stage.whole.iops, (10 * 1000 + 38 * 100) / 40.0);  // "tail included"
}

TEST(Figures, WithoutACommonTimeRatesAddUp) {
  RunResult result;
  add_steady_vm(result, 0, 2 * kNsPerSecond, 500);
  add_steady_vm(result, 5 * kNsPerSecond, 7 * kNsPerSecond, 50);
  const StageFigures stage = figures_of(result).stages.at(0);
  EXPECT_EQ(stage.rule, Rule::kSumOfRates);
  EXPECT_DOUBLE_EQ(stage.data.iops, 1100);
  EXPECT_DOUBLE_EQ(stage.data.bytes_per_s, 1100 * 4096);
}

TEST(Figures, FairnessIsJainsIndex) {
  RunResult result;
  add_steady_vm(result, 0, 4 * kNsPerSecond, 300);
  add_steady_vm(result, 0, 4 * kNsPerSecond, 100);
  const Fairness fair = figures_of(result).stages.at(0).fairness.at(0);
  EXPECT_DOUBLE_EQ(fair.min_iops, 200);
  EXPECT_DOUBLE_EQ(fair.max_iops, 600);
  EXPECT_DOUBLE_EQ(fair.median_iops, 400);
  EXPECT_DOUBLE_EQ(fair.jain, 800.0 * 800 / (2 * (600.0 * 600 + 200.0 * 200)));
}

TEST(Figures, DepthIsIopsTimesLatencyAndBandwidthIsIopsTimesBlockSize) {
  const RunResult result = testing::make_test_result(3);
  const RunFigures figures = figures_of(result);
  for (const auto& job : figures.jobs) {
    double depth = 0;
    for (int i = 0; i < kOpCount; ++i) {
      if (!job.result->ops[i]) continue;
      depth += job.ops[i].iops * job.result->ops[i]->service.mean_ns() / kNsPerSecond;
      if (i >= kDirectionCount) continue;
      EXPECT_NEAR(job.ops[i].bytes_per_s,
                  job.ops[i].iops * static_cast<double>(job.spec->block_sizes[i].min_bytes), 1);
    }
    EXPECT_NEAR(job.achieved_depth, depth, 1e-6);
    EXPECT_LE(job.achieved_depth, static_cast<double>(job.requested_depth));
    EXPECT_GT(job.achieved_depth, 0.95 * static_cast<double>(job.requested_depth));
  }
  ASSERT_EQ(figures.stages.size(), 2u);
  EXPECT_EQ(figures.stages[0].data.ios + figures.stages[1].data.ios, figures.data_ios);
}

TEST(Figures, FlushesAreNoDataIos) {
  const RunResult result = testing::make_test_result(1);
  const RunFigures figures = figures_of(result);
  EXPECT_EQ(figures.flushes, result.total(Op::kFlush).ios);
  EXPECT_GT(figures.flushes, 0u);
  EXPECT_EQ(figures.data_ios, result.total(Op::kRead).ios + result.total(Op::kWrite).ios);
}

TEST(Figures, NothingIsNeverDividedByNothing) {
  const RunResult nothing;
  EXPECT_TRUE(figures_of(nothing).stages.empty());
  const RunResult failed_result = testing::make_failed_result();
  const RunFigures failed = figures_of(failed_result);
  EXPECT_EQ(failed.stages.at(0).rule, Rule::kNothing);
  EXPECT_EQ(failed.stages.at(0).data.iops, 0);
  EXPECT_EQ(failed.cpu_ns_per_io, 0);
}

TEST(Figures, SamplesBeyondAPercentile) {
  Histogram histogram;
  EXPECT_EQ(samples_beyond(histogram, 0.99), 0u);
  histogram.add(1000, 10'000);
  EXPECT_EQ(samples_beyond(histogram, 0.99), 100u);
  EXPECT_EQ(samples_beyond(histogram, 0.999), 10u);
  EXPECT_EQ(samples_beyond(histogram, 1.0), 0u);
}

}  // namespace
}  // namespace cephmark
