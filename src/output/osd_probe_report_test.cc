#include "output/osd_probe_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace cephmark {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Reads of each OSD take so many milliseconds.
std::string told(const std::vector<int>& read_ms, const std::vector<std::string>& classes) {
  RunResult result;
  for (size_t i = 0; i < read_ms.size(); ++i) {
    VmPlan& osd = result.plan.vms.emplace_back();
    osd.name = "osd." + std::to_string(i);
    osd.host = "compute-node-17.rack-4.example";
    osd.group = classes[i];
    osd.jobs.resize(2);
    VmResult& vm = result.vms.emplace_back();
    vm.vm = static_cast<int>(i);
    for (Op op : {Op::kWrite, Op::kRead}) {
      OpResult& counts = vm.jobs.emplace_back().op(op);
      for (int n = 0; n < 1000; ++n)
        counts.response.add(op == Op::kRead ? read_ms[i] * 1'000'000 : 2'000'000);
      counts.ios = 1000;
    }
  }
  std::ostringstream out;
  make_osd_probe_report(out)->end(result);
  return out.str();
}

TEST(OsdProbeReport, TheSlowOneIsNamedWithItsRatio) {
  const std::string text = told({1, 1, 4, 1}, {"ssd", "ssd", "ssd", "ssd"});
  EXPECT_THAT(text, HasSubstr("osd.2 is slow: its median read takes 4.0 times"));
  EXPECT_THAT(text, Not(HasSubstr("osd.1 is slow")));
  EXPECT_THAT(text, Not(HasSubstr("median write")));
}

TEST(OsdProbeReport, AFastOneIsNot) {
  EXPECT_THAT(told({4, 4, 1, 4}, {"ssd", "ssd", "ssd", "ssd"}), HasSubstr("no OSD stands out"));
}

TEST(OsdProbeReport, DisksAreComparedWithDisks) {
  EXPECT_THAT(told({1, 1, 1, 10, 10, 10}, {"ssd", "ssd", "ssd", "hdd", "hdd", "hdd"}),
              HasSubstr("no OSD stands out"));
}

TEST(OsdProbeReport, LinesFitATerminal) {
  std::istringstream lines(told({1000, 1000, 20}, {"ssd", "ssd", "ssd"}));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
}

}  // namespace
}  // namespace cephmark
