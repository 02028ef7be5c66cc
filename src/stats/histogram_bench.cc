#include <benchmark/benchmark.h>

#include <vector>

#include "base/rng.h"
#include "stats/histogram.h"

namespace cephmark {
namespace {

void histogram_add(benchmark::State& state) {
  Rng rng(1);
  std::vector<int64_t> latencies(4096);
  for (int64_t& latency : latencies) latency = static_cast<int64_t>(200'000 + rng.below(2'000'000));
  Histogram histogram;
  histogram.reserve();
  size_t i = 0;
  for (auto _ : state) histogram.add(latencies[i++ & 4095]);
  benchmark::DoNotOptimize(histogram.count());
}
BENCHMARK(histogram_add);

void histogram_merge(benchmark::State& state) {
  Histogram a, b;
  for (int i = 0; i < 1000; ++i) b.add(i * 1000);
  for (auto _ : state) a.merge(b);
  benchmark::DoNotOptimize(a.count());
}
BENCHMARK(histogram_merge);

void histogram_quantile(benchmark::State& state) {
  Histogram histogram;
  for (int i = 0; i < 1000; ++i) histogram.add(i * 1000);
  for (auto _ : state) benchmark::DoNotOptimize(histogram.quantile_ns(0.999));
}
BENCHMARK(histogram_quantile);

}  // namespace
}  // namespace cephmark
