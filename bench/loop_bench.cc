// loop_bench: the measuring loop alone, without job files and reports: 4 KiB random reads on one engine.
//
//   loop_bench ENGINE DEPTH SECONDS SIZE_MIB [FILE]
//
// Prints one line: engine, I/Os per second, CPU nanoseconds per I/O over the measured window (whole process).

#include <fmt/format.h>

#include <cstdlib>

#include "base/error.h"
#include "base/time.h"
#include "base/units.h"
#include "run/local_runner.h"

namespace cephmark {
namespace {

class Silent : public Observer {
  void progress(const std::string&, uint64_t, uint64_t) override {}
  void note(const std::string&) override {}
  void tick(const TickSample&) override {}
};

int run(int argc, char** argv) {
  if (argc < 5) {
    fmt::print(stderr, "usage: loop_bench ENGINE DEPTH SECONDS SIZE_MIB [FILE]\n");
    return 2;
  }
  JobSpec job;
  job.name = "loop";
  job.ioengine = argv[1];
  job.iodepth = static_cast<unsigned>(std::atoi(argv[2]));
  job.runtime_ns = std::atoi(argv[3]) * kNsPerSecond;
  job.time_based = true;
  job.invalidate = false;
  job.size = {SizeSpec::Kind::kBytes, static_cast<uint64_t>(std::atoll(argv[4])) * kMiB};
  if (argc > 5) job.filenames = {argv[5]};
  job.rw.random = true;
  job.rw.name = "randread";
  Plan plan;
  plan.vms.resize(1);
  plan.vms[0].jobs.push_back(job);
  Silent observer;
  const RunResult result = LocalRunner().run(plan, {}, observer);
  const OpResult reads = result.total(Op::kRead);
  const int64_t cpu_ns = result.process_cpu.user_ns + result.process_cpu.system_ns;
  fmt::print("{} depth {}: {:.0f} IOPS, {:.1f} ns CPU per I/O, p99 {}, errors {}\n", job.ioengine, job.iodepth,
             static_cast<double>(reads.ios) * 1e9 / static_cast<double>(result.measured_ns),
             static_cast<double>(cpu_ns) / static_cast<double>(reads.ios),
             format_duration(reads.response.quantile_ns(0.99)), result.error_count());
  return result.error_count() ? 1 : 0;
}

}  // namespace
}  // namespace cephmark

int main(int argc, char** argv) {
  try {
    return cephmark::run(argc, argv);
  } catch (const cephmark::Error& error) {
    fmt::print(stderr, "loop_bench: {}\n{}\n", error.what(), error.hint());
    return static_cast<int>(error.code());
  }
}
