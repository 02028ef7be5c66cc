#include <benchmark/benchmark.h>

#include <vector>

#include "base/units.h"
#include "workload/workload.h"

namespace cephmark {
namespace {

/// One 1 TiB image, time_based; batches of `depth` as a lane with that many free slots asks for.
/// Reports ns per item.
void run(benchmark::State& state, JobSpec job, uint64_t length = kTiB) {
  job.time_based = true;
  Workload workload(job, {0, length, 1, length}, 1);
  workload.start(0);
  std::vector<IoPlanItem> items(static_cast<size_t>(state.range(0)));
  size_t made = 0;
  for (auto _ : state) {
    made += workload.next_batch(INT64_MAX / 8, items);
    benchmark::DoNotOptimize(items.data());
    benchmark::ClobberMemory();
  }
  state.counters["per_item"] = benchmark::Counter(
      static_cast<double>(made), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

JobSpec random_read() {
  JobSpec job;
  job.rw.random = true;
  return job;
}

void random_norandommap(benchmark::State& state) {
  JobSpec job = random_read();
  job.norandommap = true;
  run(state, job);
}
BENCHMARK(random_norandommap)->Arg(1)->Arg(32)->Arg(128);

void random_map(benchmark::State& state) {
  run(state, random_read());
}
BENCHMARK(random_map)->Arg(1)->Arg(32)->Arg(128);

/// Just above a power of two: half of the shuffled numbers fall outside.
void random_map_worst_size(benchmark::State& state) {
  run(state, random_read(), kTiB + 4096);
}
BENCHMARK(random_map_worst_size)->Arg(32);

void sequential(benchmark::State& state) {
  run(state, JobSpec());
}
BENCHMARK(sequential)->Arg(32);

void random_mix_fsync(benchmark::State& state) {
  JobSpec job = random_read();
  job.rw.writes = true;
  job.rwmixread = 70;
  job.fsync = 32;
  run(state, job);
}
BENCHMARK(random_mix_fsync)->Arg(32);

void zipf(benchmark::State& state) {
  JobSpec job = random_read();
  job.random_distribution[0] = {Distribution::Kind::kZipf, 1.1, -1, {}};
  run(state, job);
}
BENCHMARK(zipf)->Arg(32);

void range_with_map(benchmark::State& state) {
  JobSpec job = random_read();
  job.block_sizes[0] = {4096, 65536, {}};
  run(state, job);
}
BENCHMARK(range_with_map)->Arg(32);

void fixed_rate(benchmark::State& state) {
  JobSpec job = random_read();
  job.rate_iops = {1'000'000, 0, 0};
  run(state, job);
}
BENCHMARK(fixed_rate)->Arg(32);

void poisson_rate(benchmark::State& state) {
  JobSpec job = random_read();
  job.rate_iops = {1'000'000, 0, 0};
  job.rate_process = RateProcess::kPoisson;
  run(state, job);
}
BENCHMARK(poisson_rate)->Arg(32);

}  // namespace
}  // namespace cephmark
