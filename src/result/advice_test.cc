// Each rule fires on what it is for and is silent on a sound run; every code has its heading in
// docs/measuring.md.
#include "result/advice.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "base/fd.h"
#include "result/figures.h"
#include "result/witness.h"
#include "support/test_result.h"

namespace cephmark {
namespace {

/// A run of which nothing bad can be said: long enough, written, bigger than caches, counters
/// agree.
RunResult sound_result() {
  RunResult result = testing::make_test_result(2, 300'000);
  for (auto& vm : result.vms)
    for (auto& job : vm.jobs) {
      const JobSpec& spec = result.plan.vms[vm.vm].jobs[job.job];
      job = JobResult{.job = job.job};
      testing::record_job(job, spec, spec.stage * 13 * kNsPerSecond,
                          (spec.stage * 13 + 12) * kNsPerSecond, 300'000, 5 + vm.vm);
    }
  result.witness.read_ops = result.total(Op::kRead).ios;
  result.witness.write_ops = result.total(Op::kWrite).ios;
  result.witness.read_bytes = result.total(Op::kRead).bytes;
  result.witness.write_bytes = result.total(Op::kWrite).bytes;
  result.witness.extra_ops = 0;
  return result;
}

const RunResult& sound() {
  static const RunResult result = sound_result();
  return result;
}

std::string advice_text(const RunResult& result, const std::string& code) {
  for (const auto& taint : advice_for(result))
    if (taint.code == code) return taint.text;
  return "";
}

TEST(Advice, NothingIsSaidAboutASoundRun) {
  for (const auto& taint : advice_for(sound())) ADD_FAILURE() << taint.code << ": " << taint.text;
}

struct Case {
  const char* code;
  std::function<void(RunResult&)> spoil;
  const char* says;
};

JobSpec& spec(RunResult& result, int vm = 0) {
  return result.plan.vms[vm].jobs[0];
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"interrupted",
       [](RunResult& r) {
         r.stop_reason = "interrupted (SIGINT)";
         r.vms[0].jobs[1].finished = false;
       },
       "1 of 4 jobs had not finished"},
      {"guard", [](RunResult& r) { r.stop_reason = "guard: pool nearfull"; },
       "guard: pool nearfull"},
      {"errors", [](RunResult& r) { r.vms[0].jobs[0].op(Op::kRead).errors[EIO] = 7; }, "7 of "},
      {"unwritten-image",
       [](RunResult& r) {
         r.vms[0].targets[0].allocated_bytes = r.vms[0].targets[0].size_bytes / 10 * 3;
       },
       "70 % of rbd/node-0 is unallocated"},
      {"cache-mode",
       [](RunResult& r) { r.vms[1].targets[0].facts["cache"] = "writeback (set by the image)"; },
       "rbd/node-1 (writeback (set by the image))"},
      {"buffered",
       [](RunResult& r) {
         spec(r).ioengine = "libaio";
         spec(r).direct = false;
       },
       "without direct=1"},
      {"served-from-memory",
       [](RunResult& r) {
         Histogram& service = r.vms[0].jobs[0].op(Op::kRead).service;
         const uint64_t n = service.count();
         service = {};
         service.add(3'000, n);
       },
       "took 3"},
      {"working-set-in-cache", [](RunResult& r) { r.environment.osd_memory_bytes = 6 * kGiB; },
       "(8 GiB)"},
      {"compressed-payload",
       [](RunResult& r) {
         spec(r).ioengine = "rados-bench";
         spec(r).rw.writes = true;
         spec(r).engine_options["pool"] = "bt";
         r.environment.cluster["pool bt"] = "3 replicas, 32 PGs, compression force, application x";
       },
       "pool bt compresses"},
      {"counters-disagree",
       [](RunResult& r) {
         r.witness.read_bytes /= 2;
         r.witness.write_bytes /= 2;
       },
       "ratio 2.0"},
      {"recovery-or-scrub",
       [](RunResult& r) { r.witness.background_work = {"scrub of 3 PGs at +12 s"}; },
       "scrub of 3 PGs"},
      {"health-change",
       [](RunResult& r) { r.witness.health_changes = {"HEALTH_OK -> HEALTH_WARN (OSD_DOWN)"}; },
       "OSD_DOWN"},
      {"client-cpu", [](RunResult& r) { r.process_cpu.user_ns = 45 * kNsPerSecond; },
       "of the 2 CPUs"},
      {"generator-late", [](RunResult& r) { r.vms[0].jobs[0].op(Op::kRead).late = 50'000; },
       "50,000 of "},
      {"synchronous-depth", [](RunResult& r) { spec(r).ioengine = "psync"; },
       "iodepth=8, ioengine=psync"},
      {"depth-not-reached", [](RunResult& r) { spec(r).iodepth = 64; }, "where 64 were asked for"},
      {"run-too-short", [](RunResult& r) { r = testing::make_test_result(2, 300'000); },
       "only 4 s were measured"},
      {"uneven-windows",
       [](RunResult& r) {
         r.vms[0].jobs[0].phases = {{PhaseKind::kMeasure, 0, 0, 3 * kNsPerSecond}};
       },
       "3 s of 12 s"},
      {"few-samples",
       [](RunResult& r) {
         for (auto& vm : r.vms)
           for (const Op op : {Op::kRead, Op::kWrite}) {
             Histogram& response = vm.jobs[0].op(op).response;
             response = {};
             response.add(1'000'000, 1000);
           }
       },
       "4,000 I/Os in stage 1"},
      {"approximate-percentiles", [](RunResult& r) { r.exact_percentiles = false; }, "estimates"},
  };
  return all;
}

// USE-02: run-too-short, buffered and served-from-memory. USE-08: the last of them. K8S-02:
// working-set-in-cache.
TEST(Advice, EachRuleFiresOnWhatItIsFor) {
  std::set<std::string_view> tried;
  for (const auto& one : cases()) {
    RunResult result = sound();
    one.spoil(result);
    EXPECT_NE(advice_text(result, one.code).find(one.says), std::string::npos)
        << one.code << ": '" << advice_text(result, one.code) << "' does not say '" << one.says
        << "'";
    tried.insert(one.code);
  }
  for (const auto code : advice_rule_codes())
    EXPECT_TRUE(tried.count(code)) << code << " is never tried";
}

TEST(Advice, SilentWhereItDoesNotApply) {
  RunResult result = sound();
  spec(result).iodepth = 64;
  spec(result).rate_iops[0] = 100;
  EXPECT_EQ(advice_text(result, "depth-not-reached"),
            "");  // with a rate the depth is not the point
  result.witness.available = false;
  result.witness.read_ops = result.witness.write_ops = 0;
  EXPECT_EQ(advice_text(result, "counters-disagree"), "");  // not asked is not a disagreement
  result.vms[0].targets[0].allocated_bytes.reset();
  EXPECT_EQ(advice_text(result, "unwritten-image"), "");  // not known is not unwritten
  RunResult writes = testing::make_write_result(1);
  writes.vms[0].targets[0].allocated_bytes = 0;
  EXPECT_EQ(advice_text(writes, "unwritten-image"), "");  // nobody reads
  EXPECT_EQ(advice_text(writes, "working-set-in-cache"), "");
}

// librbd merges adjacent writes: fewer operations with the same bytes are no disagreement.
TEST(Advice, FewerOperationsWithTheSameBytesAgree) {
  RunResult result = sound();
  result.witness.write_ops /= 8;
  EXPECT_EQ(advice_text(result, "counters-disagree"), "");
  result.witness.read_bytes = 0;
  EXPECT_NE(advice_text(result, "counters-disagree").find("the OSDs sent 0"), std::string::npos);
}

// What counts is the part that is read, and in all phases.
TEST(Advice, ARegionAndAWarmUpAreJudgedByThemselves) {
  RunResult result = sound();
  TargetFacts& target = result.vms[0].targets[0];
  target.region_bytes = target.size_bytes / 4;
  target.allocated_bytes = target.region_bytes;
  EXPECT_EQ(advice_text(result, "unwritten-image"), "");
  target.allocated_bytes = target.region_bytes / 2;
  EXPECT_NE(advice_text(result, "unwritten-image").find("50 % of what is read of rbd/node-0 is"),
            std::string::npos);
  result.witness.client_reads = 2 * result.witness.read_ops;  // half of them in the warm-up
  result.witness.client_read_bytes = 2 * result.witness.read_bytes;
  EXPECT_NE(advice_text(result, "counters-disagree").find("(ratio 2.00)"), std::string::npos);
}

// RAD-08: of the payload of rados bench; what does not compress, or a pool that does not, is sound.
TEST(Advice, CompressionMattersForWhatCompresses) {
  RunResult result = sound();
  spec(result).ioengine = "rados-bench";
  spec(result).rw.writes = true;
  spec(result).engine_options["pool"] = "bt";
  std::string& pool = result.environment.cluster["pool bt"];
  pool = "3 replicas, 32 PGs, compression aggressive, application x";
  EXPECT_NE(advice_text(result, "compressed-payload"), "");
  spec(result).engine_options["contents"] = "random";
  EXPECT_EQ(advice_text(result, "compressed-payload"), "");
  spec(result).engine_options["contents"] = "z";
  for (const char* mode : {"no compression set", "compression passive"}) {
    pool = std::string("3 replicas, 32 PGs, ") + mode;
    EXPECT_EQ(advice_text(result, "compressed-payload"), "") << mode;
  }
}

TEST(Advice, SurvivesAnEmptyResult) {
  EXPECT_TRUE(advice_for(RunResult{}).empty());
  EXPECT_TRUE(advice_for(testing::make_failed_result()).empty());
}

TEST(Advice, ACodeIsToldOnce) {
  RunResult result = testing::make_interrupted_result();
  add_advice(result);
  add_advice(result);
  std::set<std::string> codes;
  for (const auto& taint : result.taints)
    EXPECT_TRUE(codes.insert(taint.code).second) << taint.code;
  EXPECT_EQ(result.taints.front().text, "the run was stopped after 4.00 s of 120 s");
}

TEST(Advice, EveryCodeIsAHeadingInTheDocs) {
  const std::string text = read_file(std::string(CEPHMARK_SOURCE_DIR) + "/docs/measuring.md");
  for (const auto code : advice_codes())
    EXPECT_NE(text.find("\n### " + std::string(code) + "\n"), std::string::npos)
        << "docs/measuring.md has no heading '### " << code << "'";
  // And no heading there is a code that no longer exists.
  const std::set<std::string_view> known(advice_codes().begin(), advice_codes().end());
  for (size_t at = text.find("\n### "); at != std::string::npos; at = text.find("\n### ", at + 1)) {
    const std::string heading = text.substr(at + 5, text.find('\n', at + 1) - at - 5);
    EXPECT_TRUE(known.count(heading)) << "'" << heading << "' is no advice code";
  }
}

TEST(Witness, WritesWithAConditionAreNotTakenForLocks) {
  RunResult result = sound();
  const RunFigures figures = figures_of(result);
  const auto lines_of = [&] {
    std::string text;
    for (const auto& line : witness_lines(result, witness_figures(result, figures)))
      text += line + "\n";
    return text;
  };
  result.witness.extra_ops = 20;
  EXPECT_NE(lines_of().find("20 more operations were for locks"), std::string::npos) << lines_of();
  result.witness.extra_ops = result.witness.write_ops + 20;
  result.witness.write_ops = 0;
  EXPECT_NE(lines_of().find("operations that also read or check something"), std::string::npos)
      << lines_of();
  EXPECT_EQ(lines_of().find("as 0 operations"), std::string::npos) << lines_of();
  EXPECT_EQ(lines_of().find("more operations were for locks"), std::string::npos) << lines_of();
}

}  // namespace
}  // namespace cephmark
