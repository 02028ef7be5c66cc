#include "job/job_text.h"

#include <gtest/gtest.h>

namespace cephmark {
namespace {

JobSpec job(std::string name, std::vector<std::pair<std::string, std::string>> globals,
            std::vector<std::pair<std::string, std::string>> options) {
  JobSpec spec;
  spec.name = std::move(name);
  spec.written_globals = std::move(globals);
  spec.written_options = std::move(options);
  return spec;
}

TEST(JobText, TheTextOfTheTemplateIsTakenAsItStands) {
  VmPlan vm;
  vm.jobs = {job("a", {}, {{"rw", "read"}})};
  vm.job_text = "# mine\n[a]\nrw=read\n";
  EXPECT_EQ(job_file_text(vm), vm.job_text);
}

TEST(JobText, GlobalsStandAboveTheSectionsThatTheyApplyTo) {
  VmPlan vm;
  vm.jobs = {job("a", {{"ioengine", "rbd"}, {"pool", "rbd"}}, {{"rw", "read"}}),
             job("b", {{"ioengine", "rbd"}, {"pool", "rbd"}}, {{"stonewall", ""}}),
             job("c", {{"ioengine", "rbd"}, {"pool", "rbd"}, {"bs", "4k"}}, {})};
  EXPECT_EQ(
      job_file_text(vm),
      "[global]\nioengine=rbd\npool=rbd\n[a]\nrw=read\n[b]\nstonewall\n[global]\nbs=4k\n[c]\n");
}

TEST(JobText, OtherGlobalsOfASecondFileGoIntoItsSections) {
  VmPlan vm;
  vm.jobs = {job("a", {{"bs", "4k"}}, {}), job("b", {{"bs", "8k"}}, {{"rw", "write"}})};
  EXPECT_EQ(job_file_text(vm), "[global]\nbs=4k\n[a]\n[b]\nbs=8k\nrw=write\n");
}

}  // namespace
}  // namespace cephmark
