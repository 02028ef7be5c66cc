// LocalRunner on engines that need no cluster: whole plans, short, in real time; nothing here
// depends on how fast.

#include "run/local_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/error.h"
#include "base/fd.h"
#include "base/time.h"
#include "engine/file_target.h"
#include "support/temporary_directory.h"

namespace cephmark {
namespace {

class Heard : public Observer {
 public:
  void progress(const std::string&, uint64_t, uint64_t) override {}
  void note(const std::string& text) override { notes.push_back(text); }
  void tick(const TickSample& sample) override {
    ticks.push_back(sample);
    if (on_tick) on_tick();
  }
  std::vector<std::string> notes;
  std::vector<TickSample> ticks;
  std::function<void()> on_tick;
};

JobSpec job(const std::string& name, const std::string& engine = "null") {
  JobSpec job;
  job.name = name;
  job.ioengine = engine;
  job.size = {SizeSpec::Kind::kBytes, 64 << 20};
  job.rw.random = true;
  job.time_based = true;
  job.runtime_ns = 300 * kNsPerMs;
  job.iodepth = 8;
  return job;
}

Plan plan_of(const std::vector<JobSpec>& jobs, int vms = 1) {
  Plan plan;
  for (int i = 0; i < vms; ++i) {
    VmPlan& vm = plan.vms.emplace_back();
    vm.name = "vm-" + std::to_string(i);
    vm.index = i;
    vm.jobs = jobs;
  }
  return plan;
}

RunResult run(const Plan& plan, Heard& heard, std::stop_token stop = {}) {
  LocalRunnerOptions options;
  options.tick_ns = 50 * kNsPerMs;
  return LocalRunner(options).run(plan, std::move(stop), heard);
}

const PhaseSpan& measured(const JobResult& result) {
  for (const PhaseSpan& span : result.phases)
    if (span.kind == PhaseKind::kMeasure) return span;
  throw Error("it has no measured window");
}

bool has_taint(const RunResult& result, const std::string& code) {
  for (const Taint& taint : result.taints)
    if (taint.code == code) return true;
  return false;
}

// NUM-01: every figure of an aggregate is one of all clones.
TEST(LocalRunner, AnAggregateIsTheSumOfItsClones) {
  JobSpec rated = job("rated");
  rated.numjobs = 4;
  rated.iodepth = 1;
  rated.rate_iops[op_index(Op::kRead)] = 200;
  rated.runtime_ns = kNsPerSecond;
  Heard heard;
  const RunResult result = run(plan_of({rated}, 2), heard);
  const OpResult total = result.total(Op::kRead);
  // 4 clones on 2 VMs at 200/s over 1 s; a loaded machine may push the last ones out of the window.
  EXPECT_LE(total.ios, 1600u);
  EXPECT_GT(total.ios, 800u);
  ASSERT_GE(result.phases.size(), 2u);
  EXPECT_EQ(result.phases[0].kind, PhaseKind::kOpen);
  EXPECT_LE(result.phases[0].start_ns, result.phases[0].end_ns);
  EXPECT_LE(result.phases[0].end_ns, 0) << "before the barrier, to which all times are relative";
  EXPECT_EQ(total.ios, total.response.count());
  EXPECT_EQ(total.ios, result.fleet_response.count());
  EXPECT_EQ(total.bytes, total.ios * 4096);
  uint64_t in_series = 0, in_intervals = 0;
  for (const SlotSample& slot : total.series.slots()) in_series += slot.ios;
  for (const Histogram& interval : result.interval_response[op_index(Op::kRead)])
    in_intervals += interval.count();
  EXPECT_EQ(in_series, total.ios);
  EXPECT_EQ(in_intervals, total.ios);
  ASSERT_EQ(result.vms.size(), 2u);
  EXPECT_EQ(result.vms[0].jobs[0].find(Op::kRead)->ios + result.vms[1].jobs[0].find(Op::kRead)->ios,
            total.ios);
}

// NUM-04 and NUM-11: warm-up, then a window of exactly the runtime, the same for all; only the
// job's own operations.
TEST(LocalRunner, TheWindowComesAfterTheWarmUpAndIsAsLongAsAsked) {
  JobSpec warm = job("warm");
  warm.rw.reads = false;
  warm.rw.writes = true;
  warm.ramp_time_ns = 200 * kNsPerMs;
  warm.runtime_ns = kNsPerSecond;
  warm.numjobs = 3;
  Heard heard;
  const RunResult result = run(plan_of({warm}, 3), heard);
  for (const VmResult& vm : result.vms) {
    const JobResult& one = vm.jobs[0];
    EXPECT_EQ(measured(one).start_ns, 200 * kNsPerMs);
    EXPECT_EQ(one.measured_ns(), kNsPerSecond);
    EXPECT_EQ(one.find(Op::kRead), nullptr);
    ASSERT_NE(one.find(Op::kWrite), nullptr);
    EXPECT_GT(one.issued, one.find(Op::kWrite)->ios);
    EXPECT_TRUE(one.finished);
  }
  EXPECT_EQ(result.measured_ns, kNsPerSecond);
  EXPECT_GT(result.process_cpu.user_ns + result.process_cpu.system_ns, 0);
  EXPECT_FALSE(result.must_exit_hard);
}

TEST(LocalRunner, NoVmBeginsAStageBeforeAllHaveEndedTheOneBefore) {
  JobSpec first = job("first"), second = job("second");
  second.stage = 1;
  second.startdelay_ns = 50 * kNsPerMs;
  Plan plan = plan_of({first, second}, 3);
  plan.vms[1].jobs[0].runtime_ns = 500 * kNsPerMs;  // the slow one
  Heard heard;
  const RunResult result = run(plan, heard);
  const int64_t slowest_ns = measured(result.vms[1].jobs[0]).end_ns;
  for (const VmResult& vm : result.vms)
    EXPECT_GE(measured(vm.jobs[1]).start_ns, slowest_ns + 50 * kNsPerMs);
  EXPECT_EQ(result.measured_ns,
            600 * kNsPerMs);  // 300 ms common to all in stage 0, 300 ms in stage 1
}

TEST(LocalRunner, ASizeBoundJobDoesItsSizeOnce) {
  JobSpec sized = job("sized");
  sized.time_based = false;
  sized.runtime_ns = 0;
  sized.size.value = 1 << 20;
  sized.numjobs = 2;
  Heard heard;
  const RunResult result = run(plan_of({sized}), heard);
  EXPECT_EQ(result.total(Op::kRead).ios, 512u);
  EXPECT_EQ(result.total(Op::kRead).bytes, 2u << 20);
}

// HNG-03.
TEST(LocalRunner, ARateBelowOneBlockEndsInTimeWithAWord) {
  JobSpec slow = job("slow");
  slow.rate_bytes_per_s[op_index(Op::kRead)] = 50;
  Heard heard;
  const int64_t before_ns = monotonic_ns();
  const RunResult result = run(plan_of({slow}), heard);
  EXPECT_LT(monotonic_ns() - before_ns, 60 * kNsPerSecond);  // the next arrival would be at 82 s
  EXPECT_LE(result.total(Op::kRead).ios, 1u);
  EXPECT_TRUE(has_taint(result, "rate-below-one-block"));
}

TEST(LocalRunner, AStopEndsItEarlyAndIsMarked) {
  JobSpec endless = job("endless");
  endless.runtime_ns = 3600 * kNsPerSecond;
  JobSpec never = endless;
  never.name = "never";
  never.stage = 1;
  std::stop_source stop;
  Heard heard;
  heard.on_tick = [&] { stop.request_stop(); };
  const RunResult result = run(plan_of({endless, never}), heard, stop.get_token());
  EXPECT_FALSE(result.stop_reason.empty());
  EXPECT_TRUE(has_taint(result, "interrupted"));
  EXPECT_GT(result.total(Op::kRead).ios, 0u);
  EXPECT_FALSE(result.vms[0].jobs[0].finished);
  EXPECT_FALSE(result.vms[0].jobs[1].finished);
  EXPECT_EQ(result.vms[0].jobs[1].issued, 0u);
  EXPECT_FALSE(result.must_exit_hard);
}

TEST(LocalRunner, TicksAddUpToWhatWasIssued) {
  Heard heard;
  const RunResult result = run(plan_of({job("ticking")}, 2), heard);
  uint64_t ticked = 0, issued = 0;
  for (const TickSample& tick : heard.ticks) ticked += tick.ios[op_index(Op::kRead)];
  for (const VmResult& vm : result.vms) issued += vm.jobs[0].issued;
  EXPECT_EQ(ticked, issued);
  EXPECT_GE(heard.ticks.size(), 2u);
  // What they are said to be of adds up, too.
  int64_t covered_ns = 0;
  for (const TickSample& tick : heard.ticks) covered_ns += tick.interval_ns;
  EXPECT_EQ(covered_ns, heard.ticks.back().at_ns);
}

TEST(LocalRunner, CpusAreBoundedRecordedAndGivenBack) {
  cpu_set_t before, after;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  Plan plan = plan_of({job("bound")});
  plan.limits.max_cpus = 1;
  Heard heard;
  EXPECT_EQ(run(plan, heard).allowed_cpus, 1);
  ASSERT_EQ(sched_getaffinity(0, sizeof(after), &after), 0);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
}

class FileRuns : public testing::TestWithParam<std::string> {
 protected:
  testing_support::TemporaryDirectory scratch_;
  const std::string directory_ = scratch_.path();
};

TEST_P(FileRuns, WriteThenReadOnTheOneFile) {
  JobSpec writer = job("f", GetParam());
  writer.directory = directory_;
  writer.size.value = 4 << 20;
  writer.rw.reads = writer.rw.random = false;
  writer.rw.writes = true;
  writer.time_based = false;
  writer.runtime_ns = 0;
  writer.numjobs = 2;
  writer.fsync = 64;
  writer.end_fsync = true;
  JobSpec reader = writer;
  reader.stage = 1;
  reader.rw.reads = true;
  reader.rw.writes = false;
  Heard heard;
  const RunResult result = run(plan_of({writer, reader}), heard);
  EXPECT_EQ(result.error_count(), 0u);
  EXPECT_EQ(result.total(Op::kWrite).bytes, 8u << 20);
  EXPECT_EQ(result.total(Op::kRead).bytes, 8u << 20);
  EXPECT_GT(result.total(Op::kFlush).ios, 0u);
  EXPECT_EQ(std::filesystem::file_size(directory_ + "/f.1.0"), 4u << 20);
}

TEST_P(FileRuns, TheDepthThatWasReachedIsTold) {
  JobSpec deep = job("deep", GetParam());
  deep.directory = directory_;
  deep.size.value = 4 << 20;
  deep.iodepth = 32;
  Heard heard;
  const JobResult result = run(plan_of({deep}), heard).vms[0].jobs[0];
  uint64_t above_one = 0;
  for (size_t i = 1; i < result.depths.depth.size(); ++i) above_one += result.depths.depth[i];
  EXPECT_EQ(above_one > 0, GetParam() != "psync");  // USE-03
}

// Each clone has a file of its own, as long as its region ends.
TEST_P(FileRuns, ClonesWithFilesOfTheirOwnMayBeginAtOffsetsOfTheirOwn) {
  JobSpec writer = job("f", GetParam());
  writer.directory = directory_;
  writer.size.value = 1 << 20;
  writer.rw.reads = false;
  writer.rw.writes = true;
  writer.time_based = false;
  writer.runtime_ns = 0;
  writer.numjobs = 3;
  writer.offset_increment = {SizeSpec::Kind::kBytes, 64 << 10};
  Heard heard;
  const RunResult result = run(plan_of({writer}), heard);
  EXPECT_EQ(result.total(Op::kWrite).bytes, 3u << 20);
  for (int clone = 0; clone < 3; ++clone)
    EXPECT_EQ(std::filesystem::file_size(directory_ + fmt::format("/f.{}.0", clone)),
              (1u << 20) + clone * (64u << 10));
}

namespace {

/// Pages of a file that lie in the page cache.
size_t cached_pages(const std::string& path) {
  const size_t bytes = std::filesystem::file_size(path);
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  void* const at = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (at == MAP_FAILED) throw Error("cannot map " + path);
  std::vector<unsigned char> pages((bytes + 4095) / 4096);
  mincore(at, bytes, pages.data());
  munmap(at, bytes);
  return std::count_if(pages.begin(), pages.end(), [](unsigned char page) { return page & 1; });
}

}  // namespace

TEST_P(FileRuns, InvalidateDropsWhatTheStageBeforeHasLeft) {
  const std::string path = directory_ + "/data";
  {
    const UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    lay_out_file(fd.get(), path, 0, 8 << 20);
    posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED);
  }
  if (cached_pages(path) > 0) GTEST_SKIP() << "this file system lives in memory";
  JobSpec whole = job("whole", GetParam());
  whole.filenames = {path};
  whole.size.value = 8 << 20;
  whole.time_based = whole.rw.random = false;
  whole.runtime_ns = 0;
  JobSpec one = whole;
  one.name = "one";
  one.stage = 1;
  one.number_ios = 1;
  for (const bool invalidate : {false, true}) {
    one.invalidate = invalidate;
    Heard heard;
    EXPECT_EQ(run(plan_of({whole, one}), heard).total(Op::kRead).ios, 2049u);
    if (invalidate)
      EXPECT_LT(cached_pages(path), 1024u);  // the one block and what was read ahead of it
    else
      EXPECT_EQ(cached_pages(path), 2048u);
  }
}

TEST_P(FileRuns, FilesOfSeveralSizesAreToldOf) {
  for (const auto& [name, bytes] : {std::pair{"/a", 64 << 10}, std::pair{"/b", 256 << 10}}) {
    const UniqueFd fd(::open((directory_ + name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    lay_out_file(fd.get(), name, 0, bytes);
  }
  JobSpec reader = job("r", GetParam());
  reader.filenames = {directory_ + "/a", directory_ + "/b"};
  reader.nrfiles = 2;
  reader.size = {};
  reader.time_based = false;
  reader.runtime_ns = 0;
  Heard heard;
  const RunResult result = run(plan_of({reader}), heard);
  EXPECT_EQ(result.total(Op::kRead).bytes, 128u << 10);
  ASSERT_TRUE(has_taint(result, "target"));
  EXPECT_THAT(result.taints.front().text, testing::HasSubstr("64 KiB to 256 KiB"));
}

INSTANTIATE_TEST_SUITE_P(Engines, FileRuns, testing::Values("psync", "libaio", "io_uring"),
                         [](const auto& row) { return row.param; });

TEST(LocalRunner, AMissingFileIsAnErrorBeforeAnyIo) {
  JobSpec missing = job("missing", "psync");
  missing.filenames = {"/nowhere/at/all"};
  Heard heard;
  try {
    run(plan_of({missing}), heard);
    FAIL() << "a file in a directory that does not exist was opened";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("/nowhere/at/all"));
  }
}

// FIL-03, FIL-04: flushes of all files are events, those at the end are told apart from them.
TEST(LocalRunner, ClonesShareTheirEventsAndFlushAllFilesAtTheEnd) {
  testing_support::TemporaryDirectory scratch;
  for (const char* engine : {"psync", "mmap", "libaio", "io_uring"}) {
    JobSpec shared = job("shared", engine);
    shared.filenames = {scratch.path() + "/a" + engine, scratch.path() + "/b" + engine};
    shared.size.value = 1 << 20;
    shared.rw = {.reads = false, .writes = true, .random = false, .name = "write"};
    shared.file_service_type = FileService::kSequential;
    shared.numjobs = 3;
    shared.clones_share = true;
    shared.time_based = false;
    shared.runtime_ns = 0;
    shared.number_ios = 100;
    shared.flush_all = 10;
    shared.end_fsync = true;
    Heard heard;
    const RunResult result = run(plan_of({shared}), heard);
    const JobResult& told = result.vms.at(0).jobs.at(0);
    // 10 writes and 2 flushes at a time: 8 rounds are 96 of 100 events.
    EXPECT_EQ(result.total(Op::kWrite).ios, 84u) << engine;
    EXPECT_EQ(result.total(Op::kFlush).ios, 16u) << engine;
    EXPECT_EQ(told.end_flushes, 6u) << engine;
    EXPECT_GT(told.end_flush_ns, 0) << engine;
    EXPECT_TRUE(told.finished) << engine;
  }
}

TEST(LocalRunner, ReadsOfCheckedBlocksFindDamage) {
  testing_support::TemporaryDirectory scratch;
  JobSpec checked = job("checked", "psync");
  checked.filenames = {scratch.path() + "/file"};
  checked.size.value = 64 << 10;
  checked.checked_blocks = true;
  checked.rw = {.reads = false, .writes = true, .random = false, .name = "write"};
  checked.time_based = false;
  checked.runtime_ns = 0;
  Heard heard;
  EXPECT_EQ(run(plan_of({checked}), heard).error_count(), 0u);
  checked.rw = {};
  EXPECT_EQ(run(plan_of({checked}), heard).error_count(), 0u);
  {
    std::fstream file(checked.filenames[0]);
    file.seekp(5 * 4096 + 7);
    file.put('x');
  }
  const RunResult damaged = run(plan_of({checked}), heard);
  const auto& samples = damaged.vms.at(0).jobs.at(0).error_samples;
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].error, EILSEQ);
  EXPECT_EQ(samples[0].offset, 5u * 4096);
}

}  // namespace
}  // namespace cephmark
