#include "compat/rbd_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "base/time.h"
#include "output/ceph_text.h"

namespace cephmark {
namespace {

constexpr uint64_t kTooLarge = uint64_t{1} << 32;

JobSpec rbd_job_of(const RbdArguments& arguments, const RbdBenchImage& image, bool compat,
                   uint8_t random_byte) {
  using Kind = RbdBenchPayload::Kind;
  JobSpec job;
  job.name = "bench";
  job.source = "command line";
  job.ioengine = "rbd";
  job.engine_options = {{"pool", image.pool}, {"rbdname", image.name}};
  if (!image.rados_namespace.empty()) job.engine_options["rbdnamespace"] = image.rados_namespace;
  job.rw.reads = arguments.type != RbdBenchType::kWrite;
  job.rw.writes = arguments.type != RbdBenchType::kRead;
  job.rw.random = arguments.pattern == RbdBenchPattern::kRandom;
  job.rw.name = job.rw.random ? (!job.rw.writes ? "randread"
                                 : job.rw.reads ? "randrw"
                                                : "randwrite")
                              : (!job.rw.writes ? "read"
                                 : job.rw.reads ? "rw"
                                                : "write");
  job.rwmixread = static_cast<int>(arguments.rw_mix_read);
  for (BlockSizes& sizes : job.block_sizes)
    sizes.min_bytes = sizes.max_bytes = arguments.io_size_bytes;
  job.norandommap = true;
  job.randrepeat = false;
  job.end_fsync = job.rw.writes;
  job.runtime_ns = arguments.run_time_ns;
  job.time_based = arguments.run_time_ns > 0 && !arguments.io_total_given;
  const RbdBenchPayload& payload = arguments.payload;
  if (payload.kind == Kind::kByte)
    job.fill_byte = payload.byte;
  else if (payload.kind == Kind::kRandomByte || (payload.kind == Kind::kDefault && compat))
    job.fill_byte = random_byte;
  return job;
}

// `i` of `parts` nearly equal parts of `whole`: the first ones have one more.
uint64_t rbd_share(uint64_t whole, uint64_t parts, uint64_t i) {
  return whole / parts + (i < whole % parts);
}

std::vector<JobSpec> rbd_jobs_of(const RbdArguments& arguments, const JobSpec& common,
                                 uint64_t blocks) {
  const uint64_t bytes = arguments.io_size_bytes, ios = rbd_bench_ios(arguments);
  std::vector<JobSpec> jobs;
  const bool in_parts = arguments.pattern == RbdBenchPattern::kSequential;
  const uint64_t parts =
      in_parts ? std::min<uint64_t>({arguments.io_threads, blocks, std::max<uint64_t>(1, ios)}) : 1;
  uint64_t at = 0;
  for (uint64_t i = 0; i < parts; ++i) {
    JobSpec job = common;
    job.iodepth = in_parts ? 1 : arguments.io_threads;
    const uint64_t size = rbd_share(blocks, parts, i) * bytes;
    job.offset = {SizeSpec::Kind::kBytes, at};
    job.size = {SizeSpec::Kind::kBytes, size};
    at += size;
    if (!job.time_based) {
      job.number_ios = rbd_share(ios, parts, i);
      job.io_size = {SizeSpec::Kind::kBytes, job.number_ios * bytes};
    }
    jobs.push_back(job);
  }
  return jobs;
}

}  // namespace

uint64_t rbd_bench_ios(const RbdArguments& arguments) {
  return (arguments.io_total_bytes + arguments.io_size_bytes - 1) / arguments.io_size_bytes;
}

Plan make_rbd_bench_plan(const RbdArguments& arguments, const RbdBenchImage& image,
                         const std::vector<std::string>& argv, bool compat, uint8_t random_byte) {
  if (arguments.io_size_bytes > image.size_bytes)
    throw RbdRefusal(
        fmt::format("io-size {} larger than image size {}", ceph_size_text(arguments.io_size_bytes),
                    ceph_size_text(image.size_bytes)),
        EINVAL);
  if (arguments.io_size_bytes >= kTooLarge)
    throw RbdRefusal("io-size should be less than 4G", EINVAL);
  Plan plan;
  plan.title = "rbd-bench-" + image.name;
  plan.command = "rbd bench";
  plan.arguments = argv;
  plan.ceph = arguments.ceph;
  plan.rbd_cache = RbdCache::kConf;
  plan.grants.allow_write = arguments.allow_write;
  if (compat) plan.guard = {false, false, false};
  plan.vms.emplace_back().jobs =
      rbd_jobs_of(arguments, rbd_job_of(arguments, image, compat, random_byte),
                  image.size_bytes / arguments.io_size_bytes);
  return plan;
}

}  // namespace cephmark
