// loop_bench: the measuring loop alone, without job files and reports: 4 KiB random reads on one
// engine.
//
//   loop_bench ENGINE DEPTH SECONDS SIZE_MIB [FILE | POOL/IMAGE]     the latter for rbd; CEPH_CONF
//   says which cluster
//
// Prints one line: engine, I/Os per second, CPU nanoseconds per I/O over the measured window (whole
// process).

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

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
    fmt::print(stderr, "usage: loop_bench ENGINE DEPTH SECONDS SIZE_MIB [FILE | POOL/IMAGE]\n");
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
  const std::string target = argc > 5 ? argv[5] : "";
  if (job.ioengine == "rbd") {
    job.engine_options["pool"] = target.substr(0, target.find('/'));
    job.engine_options["rbdname"] = target.substr(target.find('/') + 1);
  } else if (!target.empty()) {
    job.filenames = {target};
  }
  job.rw.random = true;
  job.rw.name = "randread";
  Plan plan;
  plan.vms.resize(1);
  plan.vms[0].jobs.push_back(job);
  Silent observer;
  const RunResult result = LocalRunner().run(plan, {}, observer);
  const OpResult reads = result.total(Op::kRead);
  const int64_t cpu_ns = result.process_cpu.user_ns + result.process_cpu.system_ns;
  fmt::print("{} depth {}: {:.0f} IOPS, {:.1f} ns CPU per I/O, p99 {}, errors {}\n", job.ioengine,
             job.iodepth,
             static_cast<double>(reads.ios) * 1e9 / static_cast<double>(result.measured_ns),
             static_cast<double>(cpu_ns) / static_cast<double>(reads.ios),
             format_duration(reads.response.quantile_ns(0.99)), result.error_count());
  for (const Taint& taint : result.taints) fmt::print("{}: {}\n", taint.code, taint.text);
  const int exit_code = result.error_count() || result.must_exit_hard ? 1 : 0;
  if (result.must_exit_hard) {
    std::fflush(stdout);
    _exit(exit_code);  // requests are still out: nothing may be torn down under them
  }
  return exit_code;
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
