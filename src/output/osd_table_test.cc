#include "output/osd_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cephmark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

OsdBenchRow row(int id, Repetitions iops, double capacity = 0, std::string scheduler = "wpq") {
  OsdBenchRow out;
  out.id = id;
  out.host = "node-a";
  out.device_class = "ssd";
  out.iops = std::move(iops);
  out.scheduler = std::move(scheduler);
  out.capacity_option = "osd_mclock_max_capacity_iops_ssd";
  out.capacity_iops = capacity;
  return out;
}

TEST(OsdTable, AnOutlierIsFarFromItsPeersByTwoMeasures) {
  const auto is = [](std::vector<double> values) {
    std::vector<bool> out;
    for (const Standing& standing : standings_of(values)) out.push_back(standing.outlier);
    return out;
  };
  EXPECT_EQ(is({100, 101, 99, 50}), (std::vector<bool>{false, false, false, true}));
  EXPECT_EQ(is({100, 101, 99, 90}), (std::vector<bool>(4, false)));   // within 20 %
  EXPECT_EQ(is({50, 100, 150, 200}), (std::vector<bool>(4, false)));  // all are far apart
  EXPECT_EQ(is({100, 50}), (std::vector<bool>(2, false)));            // who of two is it?
  EXPECT_EQ(is({}), std::vector<bool>{});
  EXPECT_EQ(is({0, 0, 0}), (std::vector<bool>(3, false)));
}

TEST(OsdTable, ClassesAreNotComparedWithEachOther) {
  std::vector<OsdBenchRow> rows = {row(0, {10000}), row(1, {10100}), row(2, {9900}), row(3, {300})};
  EXPECT_THAT(osd_bench_text(rows), HasSubstr("osd.3 is slow in 4 KiB writes: 0.03 of the median"));
  rows[3].device_class = "hdd";
  EXPECT_THAT(osd_bench_text(rows), Not(HasSubstr("is slow")));
  EXPECT_EQ(osd_bench_json(rows)["osds"][3]["outlier"], false);
}

TEST(OsdTable, RepetitionsShowTheirMedianAndSpread) {
  const std::string text = osd_bench_text({row(7, {1000, 1100, 1200})});
  EXPECT_THAT(text, HasSubstr("1,100"));
  EXPECT_THAT(text, HasSubstr("+/- 9 %"));
  EXPECT_EQ(osd_bench_json({row(7, {1000, 1100, 1200})})["osds"][0]["iops"]["median"], 1100);
}

TEST(OsdTable, AWrongCapacityIsTold) {
  const std::string mclock = "mclock_scheduler";
  EXPECT_THAT(osd_bench_text({row(0, {20000}, 300, mclock)}), HasSubstr("mClock throttles"));
  EXPECT_THAT(osd_bench_text({row(0, {20000}, 80000, mclock)}), HasSubstr("have more than"));
  EXPECT_THAT(osd_bench_text({row(0, {20000}, 300)}), HasSubstr("osd_op_queue is wpq"));
  EXPECT_THAT(osd_bench_text({row(0, {20000}, 21500, mclock)}), Not(HasSubstr("were measured")));
}

TEST(OsdTable, WhatCouldNotBeMeasuredIsADash) {
  OsdBenchRow down = row(4, {});
  down.failure = "it is down";
  const std::string text = osd_bench_text({down});
  EXPECT_THAT(text, HasSubstr("osd.4: it is down"));
  EXPECT_TRUE(osd_bench_json({down})["osds"][0]["iops"].is_null());
}

}  // namespace
}  // namespace cephmark
