// The measuring loop takes no memory: not per I/O and not per slot of time. operator new is
// replaced in this test program by one that counts per thread.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <new>

#include "base/time.h"
#include "engine/engine_table.h"
#include "run/lane.h"
#include "run/worker.h"
#include "run/workload_source.h"
#include "support/temporary_directory.h"
#include "workload/region.h"

namespace {
thread_local uint64_t allocations = 0;
}

// Not inlined: the compiler would take new and free for a mismatch.
__attribute__((noinline)) void* operator new(size_t bytes) {
  ++allocations;
  if (void* at = std::malloc(bytes ? bytes : 1)) return at;
  throw std::bad_alloc();
}
__attribute__((noinline)) void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(bytes ? bytes : 1);
}
__attribute__((noinline)) void operator delete(void* at) noexcept {
  std::free(at);
}
__attribute__((noinline)) void operator delete(void* at, size_t) noexcept {
  std::free(at);
}

namespace cephmark {
namespace {

constexpr uint64_t kSize_bytes = 1 << 20;

class HotLoop : public testing::TestWithParam<const char*> {};

TEST_P(HotLoop, TakesNoMemory) {
  const testing_support::TemporaryDirectory directory;
  const std::string path = directory.path() + "/file";
  std::ofstream(path) << std::string(kSize_bytes, 'x');
  JobSpec job;
  job.name = "hot";
  job.ioengine = GetParam();
  job.filenames = {path};
  job.size = {SizeSpec::Kind::kBytes, kSize_bytes};
  job.rw.reads = job.rw.random = job.time_based = true;
  const EngineRow& row = *find_engine(GetParam());
  Plan plan;
  plan.vms.resize(1);
  plan.vms[0].jobs.push_back(job);
  const auto engine = row.create(job, EngineContext{plan, plan.vms[0]});
  const TargetInfo info = engine->open();

  LaneSetup setup;
  setup.ops = {Op::kRead};
  setup.mode = row.completion;
  const bool blocking = row.completion == CompletionMode::kBlocking;
  setup.depth = blocking ? 1 : 8;
  setup.blocking_batch = blocking ? 16 : 1;
  setup.has_submit_latency = row.has_submit_latency;
  setup.slot_bytes = 4096;
  setup.clock = [] { return monotonic_ns(); };
  const TargetExtent extent{
      .name = info.name, .size_bytes = info.size_bytes, .fixed = true, .files = 1};
  auto source = std::make_unique<WorkloadSource>(job, resolve_region(job, extent, 0), 1);
  void* memory = std::aligned_alloc(4096, 8 * 4096);
  RunControl control;
  Collector collector(3600 * kNsPerSecond);
  auto worker = std::make_unique<Worker>(row.completion, control);
  auto lane = std::make_unique<Lane>(
      setup, RecorderSetup{.slot_ns = 3600 * kNsPerSecond, .has_submit_latency = true},
      std::move(source), static_cast<std::byte*>(memory), control, collector);
  if (row.make_port) worker->set_port(row.make_port(setup.depth, job));
  QueueSetup queue{.depth = setup.depth, .ready = lane.get(), .port = worker->port(), .job = &job};
  lane->set_queue(engine->make_queue(queue));
  worker->add(*lane);
  control.set_epoch(monotonic_ns());
  control.release_stage(0, control.epoch_ns(), 1);

  const int64_t give_up_ns = monotonic_ns() + 60 * kNsPerSecond;
  const auto turn_until = [&](uint64_t issued) {
    while (lane->result().issued < issued && monotonic_ns() < give_up_ns) worker->turn();
  };
  turn_until(100);
  const uint64_t before = allocations;
  for (int i = 0; i < 10'000; ++i) worker->turn();
  EXPECT_EQ(allocations, before);
  turn_until(1'000);
  EXPECT_GE(lane->result().issued, 1'000u);

  control.stop_at(monotonic_ns());
  while (!lane->done() && monotonic_ns() < give_up_ns) worker->turn();
  EXPECT_TRUE(lane->done());
  lane->release_queue();
  worker.reset();
  lane.reset();
  engine->close();
  std::free(memory);
}

INSTANTIATE_TEST_SUITE_P(Engines, HotLoop, testing::Values("null", "psync", "libaio", "io_uring"),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace cephmark
