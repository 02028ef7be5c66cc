// Which jobs a command line of fio's comes to, in which order and with which defaults.
#include "compat/fio_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "job/test_engines.h"

namespace cephmark {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FioPlanTest : public testing::Test {
 protected:
  Plan plan(std::vector<std::string> words) {
    words.insert(words.begin(), "fio");
    const FioArguments arguments = parse_fio_arguments(words, test_engines(), diagnostics_);
    ParseOptions options;
    options.access = SourceAccess::none();
    return make_fio_plan(
        arguments, words, test_engines(),
        [&](const std::string& path) {
          const auto found = files_.find(path);
          if (found == files_.end()) throw Error("no file " + path);
          return found->second;
        },
        options, diagnostics_);
  }
  static std::vector<std::string> order(const Plan& plan) {
    std::vector<std::string> out;
    for (const JobSpec& job : plan.vms.at(0).jobs)
      out.push_back(job.name + " " + std::to_string(job.stage) + " " + std::to_string(job.group));
    return out;
  }
  std::string errors() const { return diagnostics_.render(Severity::kError); }

  std::map<std::string, std::string> files_;
  Diagnostics diagnostics_;
};

TEST_F(FioPlanTest, DefaultsOfTheCommandLineAreWeakerThanTheFilesOwn) {
  files_["a.fio"] = "[global]\nbs=8k\n[j]\nrw=read\nsize=1m\n[k]\nbs=16k\nsize=1m\n";
  const Plan p = plan({"a.fio", "--bs=32k", "--iodepth=4", "--ioengine=null"});
  ASSERT_EQ(errors(), "");
  const auto& jobs = p.vms[0].jobs;
  EXPECT_EQ(jobs[0].block_sizes[0].min_bytes, 8192u);
  EXPECT_EQ(jobs[1].block_sizes[0].min_bytes, 16384u);
  EXPECT_EQ(jobs[0].iodepth, 4u);
  EXPECT_EQ(jobs[1].ioengine, "null");
  EXPECT_EQ(p.title, "a.fio");
  EXPECT_EQ(p.command, "fio");
  EXPECT_TRUE(p.clones_apart);
  EXPECT_EQ(p.rbd_cache, RbdCache::kAsFio);
}

TEST_F(FioPlanTest, AFurtherFileStartsAfreshAndWaits) {
  files_["a.fio"] = "[one]\nsize=1m\n[two]\nsize=1m\n";
  files_["b.fio"] = "[three]\nsize=1m\n[four]\nstonewall\nsize=1m\n";
  const Plan p = plan({"--bs=32k", "--ioengine=null", "a.fio", "b.fio"});
  ASSERT_EQ(errors(), "");
  EXPECT_THAT(order(p), ElementsAre("one 0 0", "two 0 0", "three 1 1", "four 2 2"));
  EXPECT_EQ(p.vms[0].jobs[0].block_sizes[0].min_bytes, 32768u);
  EXPECT_EQ(p.vms[0].jobs[2].block_sizes[0].min_bytes, 4096u);
  EXPECT_EQ(p.vms[0].jobs[2].ioengine, "psync");
}

TEST_F(FioPlanTest, SectionsOfTheCommandLineComeFirst) {
  files_["-"] = "[file]\nsize=1m\n";
  const Plan p = plan({"-", "--name=x", "--size=1m", "--name=y", "--stonewall", "--size=2m"});
  ASSERT_EQ(errors(), "");
  EXPECT_THAT(order(p), ElementsAre("x 0 0", "y 1 1", "file 1 1"));
  EXPECT_THAT(p.vms[0].jobs[0].written_options,
              ElementsAre(testing::Pair("name", "x"), testing::Pair("size", "1m")));
  EXPECT_EQ(p.title, "x");
}

TEST_F(FioPlanTest, OnlySomeSections) {
  files_["a.fio"] = "[global]\nsize=1m\n[one]\n[two]\n[three]\n";
  EXPECT_THAT(order(plan({"--section=two", "--section=three", "a.fio"})),
              ElementsAre("two 0 0", "three 0 0"));
  EXPECT_EQ(errors(), "");
  plan({"--section=four", "a.fio"});
  EXPECT_THAT(errors(), HasSubstr("there is no job to run"));
}

TEST_F(FioPlanTest, Refusals) {
  plan({});
  EXPECT_THAT(errors(), HasSubstr("there is no job to run"));
  diagnostics_ = {};
  plan({"--name=j", "--rw=write", "--size=1m", "--readonly"});
  EXPECT_THAT(errors(), HasSubstr("--readonly was given"));
  diagnostics_ = {};
  plan({"--name=j", "--size=1m", "--bs=oops"});
  EXPECT_THAT(errors(), HasSubstr("command line:1:"));
  EXPECT_THROW(plan({"missing.fio"}), Error);
}

}  // namespace
}  // namespace cephmark
