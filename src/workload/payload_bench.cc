#include <benchmark/benchmark.h>

#include <vector>

#include "workload/payload.h"

namespace cephmark {
namespace {

/// Into 32 buffers by turns, as a lane of depth 32 does.
void run(benchmark::State& state, const JobSpec& job) {
  Payload payload(job, 1);
  const auto bytes = static_cast<size_t>(state.range(0));
  std::vector<std::vector<std::byte>> buffers(32, std::vector<std::byte>(bytes));
  size_t i = 0;
  for (auto _ : state) {
    payload.fill(buffers[i++ & 31]);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes));
}

void payload_default(benchmark::State& state) {
  run(state, JobSpec());
}
BENCHMARK(payload_default)->Arg(4096)->Arg(65536)->Arg(4 << 20);

void payload_refill(benchmark::State& state) {
  JobSpec job;
  job.refill_buffers = true;
  run(state, job);
}
BENCHMARK(payload_refill)->Arg(4096)->Arg(65536)->Arg(4 << 20);

void payload_half_compressible(benchmark::State& state) {
  JobSpec job;
  job.buffer_compress_percentage = 50;
  run(state, job);
}
BENCHMARK(payload_half_compressible)->Arg(4096);

}  // namespace
}  // namespace cephmark
