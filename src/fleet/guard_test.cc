#include "fleet/guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/fd.h"
#include "support/temporary_directory.h"

namespace cephmark {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

JobSpec job(const std::string& name, const std::string& engine, bool writes) {
  JobSpec spec;
  spec.name = name;
  spec.source = "t.fio:1";
  spec.ioengine = engine;
  spec.rw.writes = writes;
  spec.rw.reads = !writes;
  return spec;
}

JobSpec file_job(const std::string& name, const std::string& path, bool writes) {
  JobSpec spec = job(name, "psync", writes);
  spec.filenames = {path};
  return spec;
}

Plan plan_of(std::vector<JobSpec> jobs) {
  Plan plan;
  plan.vms.push_back({"vm", 0, "host", "", std::move(jobs)});
  return plan;
}

class Guard : public testing::Test {
 protected:
  std::string file(const std::string& name) {
    write_file_atomically(directory_ + "/" + name, "precious");
    return directory_ + "/" + name;
  }
  static std::string refusal(const Plan& plan) {
    try {
      guard_targets(plan);
    } catch (const Error& error) {
      return std::string(error.what()) + "\n" + error.hint();
    }
    return "";
  }
  testing_support::TemporaryDirectory scratch_;
  const std::string directory_ = scratch_.path();
};

TEST_F(Guard, OneMessageListsAllRefusals) {
  const auto plan =
      plan_of({file_job("a", file("one"), true), file_job("b", file("two"), true),
               file_job("c", directory_ + "/new", true), file_job("d", "/dev/sdq9", true)});
  const auto text = refusal(plan);
  EXPECT_THAT(text, HasSubstr("/one was there before"));
  EXPECT_THAT(text, HasSubstr("/two was there before"));
  EXPECT_THAT(text, HasSubstr("/dev/sdq9 does not exist"));
  EXPECT_THAT(text, HasSubstr("job b, t.fio:1"));
  EXPECT_THAT(text, Not(HasSubstr("/new")));
  EXPECT_FALSE(fs::exists(directory_ + "/new")) << "the guard changes nothing";
}

TEST_F(Guard, AGrantMustNameTheVeryTarget) {
  auto plan = plan_of({file_job("a", file("one"), true)});
  EXPECT_THAT(refusal(plan), HasSubstr("--allow-write"));
  plan.grants.allow_write = {directory_ + "/two"};
  EXPECT_THAT(refusal(plan), HasSubstr("/one"));
  plan.grants.allow_write = {directory_ + "/o*"};
  EXPECT_EQ(refusal(plan), "");
}

TEST_F(Guard, ReadersOfWhatWasThereAreWelcome) {
  EXPECT_EQ(refusal(plan_of({file_job("a", file("one"), false)})), "");
}

TEST_F(Guard, OneWriterAmongTheReadersOfATargetCounts) {
  const auto path = file("one");
  EXPECT_THAT(refusal(plan_of({file_job("r", path, false), file_job("w", path, true)})),
              HasSubstr("job w"));
  EXPECT_THAT(refusal(plan_of({file_job("w", path, true), file_job("r", path, false)})),
              HasSubstr("job w"));
}

TEST_F(Guard, ATrimIsAWrite) {
  auto trim = file_job("t", file("one"), false);
  trim.rw.trims = true;
  EXPECT_THAT(refusal(plan_of({trim})), HasSubstr("/one"));
}

TEST_F(Guard, NamesThatTheJobGeneratesAreOurs) {
  auto spec = job("write-4K", "psync", true);
  spec.directory = directory_;
  file("write-4K.0.0");
  EXPECT_EQ(refusal(plan_of({spec})), "");
}

TEST_F(Guard, TheNullEngineHasNoTargets) {
  auto spec = job("n", "null", true);
  spec.filenames = {"/dev/sda"};
  EXPECT_TRUE(planned_targets(plan_of({spec})).empty());
}

TEST_F(Guard, ImagesAreNamedByPoolAndName) {
  auto spec = job("j", "rbd", true);
  spec.engine_options = {{"pool", "p"}, {"rbdname", "one"}};
  const auto targets = planned_targets(plan_of({spec}));
  ASSERT_EQ(targets.size(), 1u);
  EXPECT_EQ(targets[0].text, "p/one");
  EXPECT_TRUE(targets[0].writes);
}

}  // namespace
}  // namespace cephmark
