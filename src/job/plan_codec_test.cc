#include "job/plan_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "job/job_file.h"
#include "job/test_engines.h"

namespace cephmark {
namespace {

using testing::HasSubstr;

Plan full_plan() {
  Diagnostics diagnostics;
  const JobFile file = parse_job_file(
      "[global]\nioengine=rbd\npool=p\n[a]\nrbdname={{.Name}}\nrw=randrw\nrwmixread=70\nbssplit=4k/"
      "60:64k/40,8k\n"
      "random_distribution=zoned:60/10:40/"
      "90\nrate_iops=100,200\nrate_process=poisson\nsize=50%\nrandseed=7\n"
      "runtime=10\ntime_based\nramp_time=2\nnumber_ios=1000\nfsync=3\nbuffer_compress_percentage="
      "40\n"
      "[b]\nstonewall\nioengine=psync\nfilename=x\\:y:z\nrandom_distribution=zipf:1.2:0.25\nrw="
      "randread:8\n",
      "t.fio", test_engines(), diagnostics, {false, SourceAccess::none(), nullptr});
  EXPECT_EQ(diagnostics.render(Severity::kError), "");
  Plan plan;
  plan.title = "t";
  plan.command = "run";
  plan.arguments = {"run", "t.fio", "--vms", "2"};
  for (int i = 0; i < 2; ++i) {
    const std::string name = "h-" + std::to_string(i);
    plan.vms.push_back(
        {name, i, "h", "web", make_jobs(file, {name, i, "h", "p"}, diagnostics), "[a]\n"});
  }
  plan.vms[0].jobs[0].rw_ratio = 1.5;
  plan.vms[0].jobs[0].sync = SyncWrites::kDsync;
  plan.seed = UINT64_MAX;
  plan.ceph = {"/c", "client.x", "/k", "ceph"};
  plan.rbd_cache = RbdCache::kWriteAround;
  plan.limits = {3, 4, 5, 6, 7, 8};
  plan.grants = {{"rbd/*"}, true, true};
  plan.guard = {false, true, false};
  plan.warnings = {"t.fio:1: \u00e9"};
  return plan;
}

TEST(PlanCodec, WhatIsWrittenIsReadBackEqual) {
  const Plan plan = full_plan();
  const Json json = plan_to_json(plan);
  const Plan back = plan_from_json(parse_json(json.dump(), "test"));
  EXPECT_EQ(plan_to_json(back).dump(), json.dump());
  // Not only the text: some values of each kind.
  ASSERT_EQ(back.vms.size(), 2u);
  ASSERT_EQ(back.vms[1].jobs.size(), 2u);
  const JobSpec& a = back.vms[1].jobs[0];
  const JobSpec& b = back.vms[1].jobs[1];
  EXPECT_EQ(a.engine_options.at("rbdname"), "h-1");
  EXPECT_EQ(a.size.kind, SizeSpec::Kind::kPercent);
  EXPECT_EQ(a.size.value, 50u);
  EXPECT_EQ(a.randseed, 7u);
  EXPECT_FALSE(b.randseed.has_value());
  EXPECT_EQ(a.block_sizes[0].splits.size(), 2u);
  EXPECT_EQ(a.block_sizes[0].splits[1].percent, 60);
  EXPECT_EQ(a.random_distribution[2].zones[1].size_percent, 90);
  EXPECT_EQ(a.rate_iops, (PerDirection<uint64_t>{100, 200, 200}));
  EXPECT_EQ(a.rate_process, RateProcess::kPoisson);
  EXPECT_EQ(b.stage, 1);
  EXPECT_EQ(b.rw.postfix, 8);
  EXPECT_EQ(b.random_distribution[0].center, 0.25);
  EXPECT_THAT(b.filenames, testing::ElementsAre("x:y", "z"));
  EXPECT_EQ(back.vms[0].jobs[0].rw_ratio, 1.5);
  EXPECT_EQ(back.vms[0].jobs[0].sync, SyncWrites::kDsync);
  EXPECT_EQ(back.seed, UINT64_MAX);
  EXPECT_EQ(back.rbd_cache, RbdCache::kWriteAround);
  EXPECT_EQ(back.limits.slot_ns, 8);
  EXPECT_TRUE(back.grants.open_read_only);
  EXPECT_FALSE(back.guard.slow_ops);
}

/// Stands for a value of any type where fields are counted.
struct Anything {
  template <typename T>
  operator T() const;  // never called
};

/// How many fields an aggregate has.
template <typename T, typename... Fields>
constexpr size_t field_count(Fields... fields) {
  if constexpr (requires { T{fields..., Anything{}}; })
    return field_count<T>(fields..., Anything{});
  else
    return sizeof...(Fields);
}

// A field that is added to the types and forgotten in the codec would be lost on the wire without a
// word.
TEST(PlanCodec, NoFieldIsForgotten) {
  const Json plan = plan_to_json(full_plan());
  EXPECT_EQ(plan.size(), field_count<Plan>() + 1);  // and the version
  EXPECT_EQ(plan["ceph"].size(), field_count<CephTarget>());
  EXPECT_EQ(plan["limits"].size(), field_count<RunLimits>());
  EXPECT_EQ(plan["grants"].size(), field_count<SafetyGrants>());
  EXPECT_EQ(plan["guard"].size(), field_count<GuardPolicy>());
  EXPECT_EQ(plan["vms"][0].size(), field_count<VmPlan>());
  const Json& job = plan["vms"][0]["jobs"][0];
  EXPECT_EQ(job.size(), field_count<JobSpec>());
  EXPECT_EQ(job["rw"].size(), field_count<RwMode>());
  EXPECT_EQ(job["size"].size(), field_count<SizeSpec>());
  EXPECT_EQ(job["block_sizes"][0].size(), field_count<BlockSizes>());
  EXPECT_EQ(job["random_distribution"][0].size(), field_count<Distribution>());
  EXPECT_EQ(job["random_distribution"][0]["zones"][0].size(), field_count<DistributionZone>());
}

TEST(PlanCodec, ADefaultPlanSurvives) {
  const Json json = plan_to_json(Plan());
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(plan_to_json(plan_from_json(json)).dump(), json.dump());
}

std::string error_of(const Json& json) {
  try {
    plan_from_json(json);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(PlanCodec, DamageIsNamedByItsPlace) {
  const Json good = plan_to_json(full_plan());
  Json bad = good;
  bad["vms"][1]["jobs"][0]["iodepth"] = "4";
  EXPECT_EQ(error_of(bad), "plan.vms[1].jobs[0].iodepth: not a whole number");
  bad = good;
  bad["vms"][1]["jobs"][0]["iodepth"] = int64_t{1} << 40;
  EXPECT_EQ(error_of(bad), "plan.vms[1].jobs[0].iodepth: out of range");
  bad = good;
  bad["seed"] = -1;
  EXPECT_EQ(error_of(bad), "plan.seed: out of range");
  bad = good;
  bad["vms"][0]["jobs"][1]["rw"] = 5;
  EXPECT_EQ(error_of(bad), "plan.vms[0].jobs[1].rw: not an object");
  bad = good;
  bad["rbd_cache"] = "on";
  EXPECT_THAT(error_of(bad), HasSubstr("plan.rbd_cache: \"on\""));
  bad = good;
  bad["vms"][0]["jobs"][1]["numjobs"] = 0;
  EXPECT_THAT(error_of(bad), HasSubstr("plan.vms[0].jobs[1]"));
  bad = good;
  bad["version"] = 2;
  EXPECT_THAT(error_of(bad), HasSubstr("version 2"));
  EXPECT_EQ(error_of(Json::array()), "plan: not an object");
  EXPECT_EQ(error_of(Json::object()), "plan.version: missing");
  bad = good;
  bad["unheard"] = 1;
  EXPECT_EQ(error_of(bad), "plan.unheard: is not a known key");
  bad = good;
  bad["vms"][1]["jobs"][0]["size"]["unit"] = "GiB";
  EXPECT_EQ(error_of(bad), "plan.vms[1].jobs[0].size.unit: is not a known key");
  bad = good;
  bad["limits"].erase("slot_ns");
  EXPECT_EQ(error_of(bad), "");
}

}  // namespace
}  // namespace cephmark
