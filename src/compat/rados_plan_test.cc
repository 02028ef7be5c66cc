#include "compat/rados_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "base/time.h"
#include "workload/workload.h"

namespace cephmark {
namespace {

RadosArguments parse_bench(const std::string& line) {
  std::istringstream in("rados -p bt bench " + line);
  std::vector<std::string> argv;
  for (std::string word; in >> word;) argv.push_back(word);
  return parse_rados_arguments(argv);
}

RadosBenchRun run_of(uint64_t ops) {
  RadosBenchRun run;
  run.run_name = "mine";
  run.prefix = "benchmark_data_vm_7";
  run.layout = {16384, 4096};
  run.ops = ops;
  return run;
}

JobSpec job_of(const std::string& line, const RadosBenchRun& run) {
  const Plan plan = make_rados_bench_plan(parse_bench(line), run, {"rados"});
  EXPECT_EQ(plan.vms.size(), 1u);
  EXPECT_EQ(plan.vms.at(0).jobs.size(), 1u);
  return plan.vms.at(0).jobs.at(0);
}

TEST(RadosPlan, Write) {
  const JobSpec job = job_of("60 write -t 8 --no-cleanup --no-hints", run_of(1000));
  EXPECT_TRUE(job.rw.writes);
  EXPECT_FALSE(job.rw.reads || job.rw.random || job.time_based);
  EXPECT_EQ(job.ioengine, "rados-bench");
  EXPECT_EQ(job.iodepth, 8u);
  EXPECT_EQ(job.runtime_ns, 60 * kNsPerSecond);
  EXPECT_EQ(job.size.value, 1000u * 4096);
  EXPECT_EQ(job.block_sizes[op_index(Op::kWrite)].min_bytes, 4096u);
  EXPECT_EQ(job.engine_option("pool"), "bt");
  EXPECT_EQ(job.engine_option("object_size"), "16384");
  EXPECT_EQ(job.engine_option("record"), "mine");
  EXPECT_EQ(job.engine_option("hints"), "0");
  EXPECT_EQ(job.engine_option("keep_objects"), "1");
  EXPECT_EQ(job.engine_option("move_record"), "0");
}

// Objects that go at the end are the manifest's; those that were there before are not.
TEST(RadosPlan, WhoOwnsTheObjects) {
  EXPECT_EQ(job_of("1 write", run_of(1)).engine_option("keep_objects"), "0");
  EXPECT_EQ(job_of("1 write --reuse-bench", run_of(1)).engine_option("keep_objects"), "1");
  EXPECT_EQ(job_of("1 write --reuse-bench", run_of(1)).engine_option("reuse"), "1");
}

TEST(RadosPlan, Reads) {
  const JobSpec seq = job_of("5 seq --no-verify", run_of(10));
  EXPECT_TRUE(seq.rw.reads);
  EXPECT_FALSE(seq.rw.random || seq.rw.writes || seq.time_based);  // each op once
  EXPECT_EQ(seq.size.value, 40960u);
  EXPECT_EQ(seq.engine_option("verify_contents"), "0");
  const JobSpec rand = job_of("5 rand", run_of(10));
  EXPECT_TRUE(rand.rw.random && rand.time_based && rand.norandommap);
  EXPECT_EQ(rand.engine_option("verify_contents"), "1");
}

// RAD-01: any op from the first one on, and each as often as any other; the original begins with
// 0, 1, 2...
TEST(RadosPlan, RandomReadsAreRandomFromTheFirst) {
  constexpr uint64_t kOps = 64, kOp = 4096;
  const JobSpec job = job_of("5 rand", run_of(kOps));
  const Region region{.length_bytes = kOps * kOp, .loop_bytes = kOps * kOp};
  std::set<std::vector<uint64_t>> beginnings;
  std::vector<int> hits(kOps);
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Workload workload(job, region, lane_seed(job, seed, 0));
    workload.start(0);
    std::vector<uint64_t> first;
    for (int i = 0; i < 200; ++i) {
      IoPlanItem item;
      ASSERT_TRUE(workload.next(0, item));
      ASSERT_EQ(item.length, kOp);
      ++hits.at(item.offset / kOp);
      if (i < 16) first.push_back(item.offset / kOp);
    }
    EXPECT_FALSE(std::is_sorted(first.begin(), first.end())) << seed;
    beginnings.insert(first);
  }
  EXPECT_EQ(beginnings.size(), 50u);
  for (const int count : hits) EXPECT_NEAR(count, 50 * 200 / kOps, 80);
}

TEST(RadosPlan, MaxHasNoEnd) {
  EXPECT_EQ(job_of("max seq", run_of(10)).runtime_ns, 0);
}

// As the original: the ops that it sends off at first are all there is.
TEST(RadosPlan, NoSecondsAreOneDepth) {
  for (const char* line : {"0 write -t 4", "0 seq -t 4", "0 rand -t 4"}) {
    const JobSpec job = job_of(line, run_of(10));
    EXPECT_EQ(job.number_ios, 4u) << line;
    EXPECT_FALSE(job.time_based) << line;
    EXPECT_EQ(job.runtime_ns, 0) << line;
  }
}

TEST(RadosPlan, OpsAreLimitedByObjectsRoomAndRecord) {
  const BenchLayout layout{10000, 3000};  // three to an object
  EXPECT_EQ(most_ops(parse_bench("1 write --max-objects 5"), layout, UINT64_MAX), 15u);
  EXPECT_EQ(most_ops(parse_bench("1 write"), layout, UINT64_MAX), 2147483647u);
  EXPECT_EQ(most_ops(parse_bench("1 write"), layout, 30'000), 10u);
  EXPECT_EQ(most_ops(parse_bench("1 write --max-objects 5"), layout, 30'000), 10u);
  EXPECT_EQ(most_ops(parse_bench("1 write"), {uint64_t{1} << 62, uint64_t{1} << 62}, UINT64_MAX),
            1u);
}

TEST(RadosPlan, PartsAsWords) {
  EXPECT_EQ(parts_text(parse_bench("1 write").parts), "");
  EXPECT_EQ(parts_text(parse_bench("1 write --write-omap --write-xattr").parts), "omap,xattr");
  EXPECT_EQ(parts_text(parse_bench("1 seq --object --omap").parts), "object,omap");
}

TEST(RadosPlan, ReportKnowsTheRun) {
  const auto options =
      rados_bench_report_options(parse_bench("5 write --no-cleanup -f json"), run_of(9));
  EXPECT_TRUE(options.writes);
  EXPECT_EQ(options.run_name, "mine");
  EXPECT_EQ(options.object_prefix, "benchmark_data_vm_7");
  EXPECT_EQ(options.op_size_bytes, 4096u);
  EXPECT_EQ(options.format, RadosBenchFormat::kJson);
  // What goes at the end has no record to name.
  EXPECT_EQ(rados_bench_report_options(parse_bench("5 write"), run_of(9)).run_name, "");
}

}  // namespace
}  // namespace cephmark
