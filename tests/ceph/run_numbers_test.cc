// The numbers of `cephmark run` against witnesses: the OSDs' own counters, fio on the same image,
// and the identities that hold in every report.
#include <chrono>
#include <thread>

#include "ceph/osd_counters.h"
#include "run_harness.h"

namespace cephmark {
namespace {

using testing::HasSubstr;
using namespace testing_support;

class RunNumbers : public RunTest {
 protected:
  RunResult measured(std::vector<std::string> words) {
    words.insert(words.end(), {"--quiet", "--output", "json:" + path("n.json")});
    return result_of(run(std::move(words)), "n.json");
  }
  static OsdCounters counters() {
    static const auto cluster = Cluster::connect({});
    return read_osd_counters(*cluster);
  }
  static uint64_t series_sum(const OpResult& op, bool bytes) {
    uint64_t sum = 0;
    for (const auto& slot : op.series.slots()) sum += bytes ? slot.bytes : slot.ios;
    return sum;
  }
  static void expect_sums(const RunResult& told) {
    for (const auto& vm : told.vms)
      for (const auto& job : vm.jobs)
        for (const auto& op : job.ops) {
          if (!op) continue;
          EXPECT_EQ(series_sum(*op, false), op->ios);
          EXPECT_EQ(series_sum(*op, true), op->bytes);
          EXPECT_EQ(op->response.count(), op->ios);
        }
  }
};

constexpr uint64_t kBytes = 8 << 20, kIos = kBytes / 4096;

TEST_F(RunNumbers, RandomWritesAndReadsAreWhatTheOsdsCounted) {
  make_images(2);
  prefill(2);
  const OsdCounters before = counters();
  const RunResult writes = measured({job("rw=randwrite\niodepth=8\nio_size=4m\n"), "--vms", "2"});
  const OsdCounters between = counters();
  const RunResult reads = measured({job("rw=randread\niodepth=8\nio_size=4m\n"), "--vms", "2"});
  const OsdCounters after = counters();

  EXPECT_EQ(writes.total(Op::kWrite).bytes, kBytes);
  EXPECT_EQ(writes.total(Op::kWrite).ios, kIos);
  EXPECT_EQ(reads.total(Op::kRead).bytes, kBytes);
  EXPECT_FALSE(reads.vms[0].jobs[0].find(Op::kWrite));
  // From outside, around the whole command: opening and locking cost some bytes and operations.
  EXPECT_NEAR((between - before).write_bytes, kBytes, kBytes / 100);
  EXPECT_NEAR((after - between).read_bytes, kBytes, kBytes / 100);
  // Its own witness, around the load alone.
  ASSERT_TRUE(writes.witness.available) << writes.witness.unavailable_reason;
  EXPECT_NEAR(writes.witness.write_ops, kIos, kIos / 100);
  EXPECT_NEAR(reads.witness.read_ops, kIos, kIos / 100);
  EXPECT_NEAR(reads.witness.read_bytes, kBytes, kBytes / 100);
  expect_sums(writes);
  expect_sums(reads);
}

TEST_F(RunNumbers, SequentialWritesAgreeInBytes) {
  make_images(1);
  prefill(1);
  const RunResult told = measured({job("rw=write\niodepth=16\nio_size=8m\n")});
  EXPECT_EQ(told.total(Op::kWrite).bytes, kBytes);
  EXPECT_NEAR(told.witness.write_bytes, kBytes, kBytes / 100);
  EXPECT_LE(told.witness.write_ops, kIos * 101 / 100) << "librbd joins neighbours, never splits";
}

TEST_F(RunNumbers, FioOnTheSameImageMovesTheSameBytes) {
  make_images(1);
  prefill(1);
  const std::string size_bound = job("rw=randwrite\niodepth=8\nio_size=4m\nsize=64m\ndirect=1\n");
  const RunResult ours = measured({size_bound});
  const RunResult theirs = measured({size_bound, "--runner", "fio"});
  EXPECT_THAT(theirs.runner, HasSubstr("fio"));
  EXPECT_EQ(ours.total(Op::kWrite).bytes, theirs.total(Op::kWrite).bytes);
  EXPECT_EQ(ours.total(Op::kWrite).ios, theirs.total(Op::kWrite).ios);
  for (const RunResult* told : {&ours, &theirs})
    RecordProperty(told == &ours ? "native_iops" : "fio_iops",
                   std::to_string(static_cast<double>(told->total(Op::kWrite).ios) * kNsPerSecond /
                                  std::max<int64_t>(1, told->measured_ns)));
}

TEST_F(RunNumbers, AFleetOfFioIsComparedWithTheOsdsToo) {
  if (run_command({"fio", "--version"}).exit_code) GTEST_SKIP() << "NOT TESTED: there is no fio";
  make_images(2);
  const std::string text = "rw=randwrite\niodepth=4\nio_size=2m\n";
  const std::vector<std::string> words = {"--vms", "2", "--runner", "fio"};
  auto all = words;
  all.insert(all.begin(), job(text));
  const RunResult told = measured(all);
  ASSERT_TRUE(told.witness.available) << told.witness.unavailable_reason;
  EXPECT_NEAR(told.witness.write_bytes, 4 << 20, (4 << 20) / 50);
  for (const auto& vm : told.vms) {
    ASSERT_EQ(vm.targets.size(), 1u);
    EXPECT_EQ(vm.targets[0].name, "rbd/" + image(vm.vm));
    EXPECT_EQ(vm.targets[0].size_bytes, 64u << 20);
    EXPECT_THAT(vm.targets[0].facts.at("cache"), HasSubstr("off; set by cephmark"));
  }
  all = words;
  all.insert(all.begin(), job(text + "time_based\nruntime=1\nramp_time=1\n"));
  const RunResult warmed = measured(all);
  EXPECT_FALSE(warmed.witness.available);
  EXPECT_THAT(warmed.witness.unavailable_reason, HasSubstr("ramp_time"));
}

// NUM-04
TEST_F(RunNumbers, WarmUpIsNotCountedAndDoesNothingElse) {
  make_images(1);
  prefill(1);
  const OsdCounters before = counters();
  const int64_t begun_ns = monotonic_ns();
  const RunResult told =
      measured({job("rw=randwrite\niodepth=16\nramp_time=3\nruntime=2\ntime_based\n")});
  EXPECT_GE(monotonic_ns() - begun_ns, 5 * kNsPerSecond);
  EXPECT_NEAR(told.vms[0].jobs[0].measured_ns(), 2 * kNsPerSecond, kNsPerSecond / 100);
  EXPECT_FALSE(told.vms[0].jobs[0].find(Op::kRead));
  const OsdCounters delta = counters() - before;
  EXPECT_LT(delta.read_ops, 100u) << "opening reads a little, warming up nothing";
  EXPECT_GT(told.vms[0].jobs[0].issued, told.total(Op::kWrite).ios);
  expect_sums(told);
  // Little's law in the measured window.
  const OpResult writes = told.total(Op::kWrite);
  const double depth = writes.service.mean_ns() * static_cast<double>(writes.ios) /
                       static_cast<double>(told.vms[0].jobs[0].measured_ns());
  EXPECT_GT(depth, 16 * 0.5);
  EXPECT_LT(depth, 16 * 1.5) << "a stall before the window reaches into it, no more";
}

// NUM-11
TEST_F(RunNumbers, AStragglerDoesNotStretchTheWindow) {
  make_images(4);
  auto child = start({job("rw=randwrite\niodepth=4\nruntime=4\ntime_based\n"), "--vms", "4",
                      "--quiet", "--output", "json:" + path("n.json"), "--grace", "60s"});
  wait_for_writes(child);
  auto lab = Lab::open(required_variable("CEPHMARK_LAB_DIR"));
  lab.pause_osd(0);
  std::this_thread::sleep_for(std::chrono::seconds(6));
  lab.resume_osd(0);
  EXPECT_EQ(wait_for(child), 0) << text("err");
  const RunResult told = result("n.json");
  for (const auto& vm : told.vms)
    EXPECT_NEAR(vm.jobs[0].measured_ns(), 4 * kNsPerSecond, kNsPerSecond / 100);
  EXPECT_NEAR(told.measured_ns, 4 * kNsPerSecond, kNsPerSecond / 100);
  bool drained = false;
  for (const auto& phase : told.phases)
    drained |= phase.kind == PhaseKind::kDrain && phase.end_ns > phase.start_ns;
  EXPECT_TRUE(drained) << "the wait is told, apart from the window";
  expect_sums(told);
}

// RBD-01
TEST_F(RunNumbers, AnyNumberOfSectionsWithAnImageEachRuns) {
  make_images(16, "16M");
  for (int count : {1, 2, 4, 5, 8, 16}) {
    std::string file =
        "[global]\nioengine=rbd\npool=rbd\nrw=randwrite\nbs=4k\niodepth=16\n"
        "io_size=64k\n";
    for (int i = 0; i < count; ++i)
      file += "[v" + std::to_string(i) + "]\nrbdname=" + image(i) + "\n";
    write_file_atomically(path("sections.fio"), file);
    const RunResult told = measured({path("sections.fio"), "--connections", "2"});
    ASSERT_EQ(told.vms.at(0).jobs.size(), static_cast<size_t>(count));
    for (const auto& one : told.vms[0].jobs) EXPECT_EQ(one.ops[op_index(Op::kWrite)]->ios, 16u);
  }
}

// RBD-05
TEST_F(RunNumbers, EightClonesOfAJobOnOneImageStopInTime) {
  make_images(1);
  prefill(1);
  for (const char* pattern : {"randread", "randwrite"}) {
    const RunResult told = measured(
        {job(std::string("rw=") + pattern + "\nnumjobs=8\niodepth=16\nruntime=2\ntime_based\n")});
    EXPECT_NEAR(told.vms[0].jobs[0].measured_ns(), 2 * kNsPerSecond, kNsPerSecond / 100);
    EXPECT_EQ(told.vms[0].jobs[0].abandoned, 0);
    EXPECT_LT(told.phases.back().end_ns, 30 * kNsPerSecond);
  }
}

TEST_F(RunNumbers, ReadingWhatWasNeverWrittenIsSaid) {
  make_images(2);
  prefill(1);
  const std::string reads = job("rw=randread\niodepth=4\nruntime=1\ntime_based\n");
  const auto codes = [](const RunResult& told) {
    std::string all;
    for (const auto& taint : told.taints) all += taint.code + " ";
    return all;
  };
  EXPECT_THAT(codes(measured({reads, "--set", "rbdname=" + image(1)})),
              HasSubstr("unwritten-image"));
  EXPECT_THAT(codes(measured({reads})), testing::Not(HasSubstr("unwritten-image")));
}

TEST_F(RunNumbers, NothingStaysOpenAfterARun) {
  const RunResult told = measured(
      {job("rw=randrw\niodepth=4\nruntime=1\ntime_based\n"), "--vms", "3", "--create", "16M"});
  EXPECT_EQ(told.vms.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(watchers(i), 0u);
    const auto locks = run_or_throw({"rbd", "lock", "ls", "--format", "json", "rbd/" + image(i)});
    EXPECT_TRUE(parse_json(locks, "rbd lock ls").empty()) << locks;
  }
  EXPECT_EQ(manifests(), 0u);
}

}  // namespace
}  // namespace cephmark
