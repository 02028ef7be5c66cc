#include "result/run_result.h"

#include <gtest/gtest.h>

#include "support/test_result.h"

namespace cephmark {
namespace {

TEST(RunResult, TotalsAddUpOverVmsAndJobs) {
  const RunResult result = testing::make_test_result(3);
  uint64_t writes = 0, write_bytes = 0, samples = 0;
  for (const auto& vm : result.vms)
    for (const auto& job : vm.jobs)
      if (const OpResult* op = job.find(Op::kWrite)) {
        writes += op->ios;
        write_bytes += op->bytes;
        samples += op->response.count();
      }
  const OpResult all = result.total(Op::kWrite);
  EXPECT_EQ(all.ios, writes);
  EXPECT_EQ(all.bytes, write_bytes);
  EXPECT_EQ(all.response.count(), samples);
  uint64_t in_slots = 0;
  for (const auto& slot : all.series.slots()) in_slots += slot.ios;
  EXPECT_EQ(in_slots, writes);
}

TEST(RunResult, ErrorsAreCountedByCode) {
  const RunResult result = testing::make_error_result();
  EXPECT_EQ(result.error_count(), 246u);
  EXPECT_EQ(result.total(Op::kWrite).errors.at(EIO), 240u);
  EXPECT_EQ(result.total(Op::kRead).error_count(), 0u);
}

TEST(JobResult, MeasuredTimeIsTheSumOfItsMeasureSpans) {
  JobResult job;
  job.phases = {{PhaseKind::kWarmup, 0, 0, 100},
                {PhaseKind::kMeasure, 0, 100, 400},
                {PhaseKind::kMeasure, 1, 500, 600},
                {PhaseKind::kDrain, 1, 600, 900}};
  EXPECT_EQ(job.measured_ns(), 400);
}

}  // namespace
}  // namespace cephmark
