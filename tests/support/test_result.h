// Results for tests, made by recording latencies one by one into the same types as a real run, from
// a fixed seed: the counts, histograms and series of each agree with each other.
#pragma once

#include <cerrno>
#include <string>

#include "base/rng.h"
#include "base/time.h"
#include "base/units.h"
#include "result/run_result.h"

namespace cephmark::testing {

inline JobSpec make_job(const std::string& name, const std::string& rw, uint64_t block_bytes,
                        unsigned depth) {
  JobSpec job;
  job.name = name;
  job.source = "test.fio:1";
  job.ioengine = "rbd";
  job.engine_options = {{"clientname", "admin"}, {"pool", "rbd"}};
  job.rw.name = rw;
  job.rw.random = rw.rfind("rand", 0) == 0;
  job.rw.reads = rw == "read" || rw == "randread" || rw == "randrw" || rw == "rw";
  job.rw.writes = rw == "write" || rw == "randwrite" || rw == "randrw" || rw == "rw";
  for (auto& sizes : job.block_sizes) sizes = {block_bytes, block_bytes, {}};
  job.iodepth = depth;
  job.direct = true;
  job.time_based = true;
  job.runtime_ns = 4 * kNsPerSecond;
  job.written_globals = {{"ioengine", "rbd"}, {"clientname", "admin"}, {"pool", "rbd"},
                         {"direct", "1"},     {"time_based", ""},      {"runtime", "4"}};
  job.written_options = {
      {"rw", rw}, {"bs", std::to_string(block_bytes)}, {"iodepth", std::to_string(depth)}};
  return job;
}

/// The two stages of reference job rbd.fio: randrw 70/30 with 4 KiB, then sequential 64 KiB writes
/// with flushes.
inline Plan make_test_plan(int vms) {
  Plan plan;
  plan.title = "rbd.fio";
  plan.command = "run";
  plan.arguments = {"cephmark", "run", "rbd.fio", "--vms", std::to_string(vms)};
  plan.seed = 42;
  for (int i = 0; i < vms; ++i) {
    VmPlan vm;
    vm.name = "node-" + std::to_string(i);
    vm.index = i;
    vm.host = "node";
    vm.jobs = {make_job("randrw", "randrw", 4096, 8), make_job("seqwrite", "write", 65536, 4)};
    vm.jobs[0].rwmixread = 70;
    vm.jobs[1].stage = vm.jobs[1].group = 1;
    vm.jobs[1].fsync = 16;
    plan.vms.push_back(std::move(vm));
  }
  return plan;
}

/// Closed loop of `depth` requests over [start, end): latencies around `typical_ns`, one in a
/// thousand 20 times that.
inline void record_job(JobResult& result, const JobSpec& job, int64_t start_ns, int64_t end_ns,
                       int64_t typical_ns, uint64_t seed) {
  Rng rng(seed);
  uint64_t writes = 0;
  for (unsigned slot = 0; slot < job.iodepth; ++slot) {
    int64_t now_ns = start_ns;
    for (;;) {
      Op op = job.rw.reads && job.rw.writes
                  ? (rng.below(100) < static_cast<uint64_t>(job.rwmixread) ? Op::kRead : Op::kWrite)
                  : (job.rw.reads ? Op::kRead : Op::kWrite);
      if (op == Op::kWrite && job.fsync > 0 && ++writes % (job.fsync + 1) == 0) op = Op::kFlush;
      int64_t service_ns = typical_ns / 2 + static_cast<int64_t>(rng.below(typical_ns));
      if (op == Op::kWrite) service_ns *= 2;
      if (rng.below(1000) == 0) service_ns *= 20;
      if (now_ns + service_ns >= end_ns) break;
      now_ns += service_ns;
      OpResult& counts = result.op(op);
      const uint64_t bytes = op == Op::kFlush ? 0 : job.block_sizes[op_index(op)].min_bytes;
      ++counts.ios;
      counts.bytes += bytes;
      counts.service.add(service_ns);
      counts.response.add(service_ns + 500);
      counts.submit.add(2000 + static_cast<int64_t>(rng.below(4000)));
      SlotSample& sample = counts.series.at(now_ns / counts.series.slot_ns());
      ++sample.ios;
      sample.bytes += bytes;
      sample.response_sum_ns += service_ns + 500;
      sample.response_max_ns = std::max(sample.response_max_ns, service_ns + 500);
      ++result.issued;
      result.depths.depth[job.iodepth >= 8 ? 3 : 2] += op != Op::kFlush;
      ++result.depths.submit[1];
      ++result.depths.complete[1];
    }
  }
  result.cpu = {40 * kNsPerMs, 10 * kNsPerMs, 1234, 0, 56};
  result.phases = {{PhaseKind::kMeasure, job.stage, start_ns, end_ns},
                   {PhaseKind::kDrain, job.stage, end_ns, end_ns + 12 * kNsPerMs}};
}

inline void set_surroundings(RunResult& result) {
  result.id = "20261130-141502-rbd-3f9a";
  result.runner = "native";
  result.start_wall_ns = 1'796'048'102 * kNsPerSecond;
  result.end_wall_ns = 1'796'048'111 * kNsPerSecond;
  result.allowed_cpus = 2;
  result.connections = 4;
  result.budget_ops = 1024;
  result.budget_bytes = 100 * kMiB;
  result.process_cpu = {400 * kNsPerMs, 100 * kNsPerMs, 5000, 1, 300};
  result.environment.host = {{"hostname", "node"},
                             {"kernel", "Linux 6.1.0"},
                             {"cpus", "2"},
                             {"memory", "24 GiB"},
                             {"program", "cephmark 0.1.0"}};
  result.environment.cluster = {{"fsid", "6f2b1c1e-0000-4000-8000-00000000cafe"},
                                {"version", "16.2.15"},
                                {"health_at_start", "HEALTH_OK"}};
  result.environment.osd_memory_bytes = 3 * kGiB;
}

/// A whole run of `vms` VMs: every VM a little slower than the one before it.
inline RunResult make_test_result(int vms = 4, int64_t typical_ns = 1'500'000) {
  RunResult result;
  result.plan = make_test_plan(vms);
  set_surroundings(result);
  for (int i = 0; i < vms; ++i) {
    VmResult vm;
    vm.vm = i;
    vm.targets = {{"rbd/node-" + std::to_string(i),
                   4 * kGiB,
                   4 * kGiB,
                   {{"cache", "off (set by cephmark)"}, {"features", "layering, exclusive-lock"}}}};
    for (int j = 0; j < 2; ++j) {
      JobResult job;
      job.job = j;
      record_job(job, result.plan.vms[i].jobs[j], j ? 4'100 * kNsPerMs : 0,
                 j ? 8'100 * kNsPerMs : 4'000 * kNsPerMs, typical_ns + i * 20'000, 1000 * i + j);
      vm.jobs.push_back(std::move(job));
    }
    result.vms.push_back(std::move(vm));
  }
  result.phases = {{PhaseKind::kPrepare, 0, -300 * kNsPerMs, 0},
                   {PhaseKind::kMeasure, 0, 0, 4'000 * kNsPerMs},
                   {PhaseKind::kDrain, 0, 4'000 * kNsPerMs, 4'012 * kNsPerMs},
                   {PhaseKind::kMeasure, 1, 4'100 * kNsPerMs, 8'100 * kNsPerMs},
                   {PhaseKind::kDrain, 1, 8'100 * kNsPerMs, 8'112 * kNsPerMs}};
  result.measured_ns = 8 * kNsPerSecond;
  for (const auto& vm : result.vms)
    for (const auto& job : vm.jobs)
      for (int i = 0; i < kOpCount; ++i) {
        if (!job.ops[i]) continue;
        result.fleet_response.merge(job.ops[i]->response);
        result.fleet_service.merge(job.ops[i]->service);
        auto& slots = result.interval_response[i];
        if (slots.size() < 17) slots.resize(17);
        slots[job.job * 9].merge(job.ops[i]->response);
      }
  for (const Op op : {Op::kRead, Op::kWrite}) {
    const OpResult all = result.total(op);
    (op == Op::kRead ? result.witness.read_ops : result.witness.write_ops) = all.ios;
    (op == Op::kRead ? result.witness.read_bytes : result.witness.write_bytes) = all.bytes;
  }
  result.witness.available = true;
  result.witness.extra_ops = 6;
  result.witness.window_ns = 8 * kNsPerSecond;
  return result;
}

/// One stage, one job of random writes.
inline RunResult make_write_result(int vms = 4) {
  RunResult result = make_test_result(vms);
  for (auto& vm : result.plan.vms) {
    vm.jobs = {make_job("write-4K", "randwrite", 4096, 32)};
    vm.jobs[0].description = "\"write test with block size of 4K\"";
  }
  result.plan.title = "write-4k";
  result.witness = {};
  result.witness.unavailable_reason = "the key may not ask (missing cap: mgr 'allow r')";
  result.phases = {{PhaseKind::kPrepare, 0, -300 * kNsPerMs, 0},
                   {PhaseKind::kMeasure, 0, 0, 4 * kNsPerSecond},
                   {PhaseKind::kDrain, 0, 4 * kNsPerSecond, 4'012 * kNsPerMs}};
  for (int i = 0; i < vms; ++i) {
    result.vms[i].jobs.assign(1, JobResult{});
    record_job(result.vms[i].jobs[0], result.plan.vms[i].jobs[0], 0, 4 * kNsPerSecond,
               3'000'000 + i * 100'000, 77 + i);
  }
  return result;
}

/// Every I/O failed.
inline RunResult make_error_result() {
  RunResult result = make_write_result(2);
  for (auto& vm : result.vms) {
    JobResult failed;
    failed.phases = vm.jobs[0].phases;
    failed.op(Op::kWrite).errors = {{EIO, 120}, {ENOSPC, 3}};
    failed.error_samples = {{5 * kNsPerMs, Op::kWrite, 4096, 4096, EIO},
                            {90 * kNsPerMs, Op::kWrite, 67108864, 4096, ENOSPC}};
    failed.issued = 123;
    vm.jobs[0] = failed;
  }
  return result;
}

inline RunResult make_interrupted_result() {
  RunResult result = make_write_result(2);
  result.stop_reason = "interrupted (SIGINT)";
  for (auto& vm : result.vms) vm.jobs[0].finished = false;
  result.vms[1].jobs[0].abandoned = 3;
  result.taints.push_back({"interrupted", "the run was stopped after 4.00 s of 120 s"});
  return result;
}

/// A plan whose jobs could not run at all.
inline RunResult make_failed_result() {
  RunResult result;
  result.plan = make_test_plan(1);
  result.error = "cannot open image rbd/node-0: No such file or directory (ENOENT)";
  VmResult vm;
  for (int j = 0; j < 2; ++j) {
    JobResult job;
    job.job = j;
    job.finished = false;
    job.failure = result.error;
    vm.jobs.push_back(job);
  }
  result.vms.push_back(vm);
  return result;
}

}  // namespace cephmark::testing
