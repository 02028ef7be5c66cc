#include "fleet/fleet_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace cephmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr EngineOption kRbdOptions[] = {{.name = "pool", .default_value = "rbd"},
                                        {.name = "rbdname"}};
const EngineDescription kRbd{.name = "rbd", .summary = "", .options = kRbdOptions};

JobFile job_file(const std::string& text) {
  Diagnostics diagnostics;
  JobFile file = parse_job_file(text, "t.fio", std::span(&kRbd, 1), diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.render(Severity::kError);
  return file;
}

std::vector<VmPlan> fleet(const FleetSpec& spec, const std::string& text) {
  const JobFile file = job_file(text);
  Diagnostics diagnostics;
  auto vms = make_fleet(
      spec, [&](const VmGroup&) -> const JobFile& { return file; }, diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.render(Severity::kError);
  return vms;
}

TEST(FleetPlan, ReadsNumbersAndGroups) {
  EXPECT_THAT(parse_vm_groups("4"), ElementsAre(VmGroup{"", 4, ""}));
  EXPECT_THAT(parse_vm_groups("web:8:web.fio,db:2:db.fio"),
              ElementsAre(VmGroup{"web", 8, "web.fio"}, VmGroup{"db", 2, "db.fio"}));
  EXPECT_THAT(parse_vm_groups("web:8"), ElementsAre(VmGroup{"web", 8, ""}));
  for (const char* text :
       {"", "0", "-1", "four", "4x", "web:x:y", ":3:f", "a:1:f,a:2:g", "1000000"})
    EXPECT_THROW(parse_vm_groups(text), UsageError) << text;
}

TEST(FleetPlan, NamesVmsAfterTheHost) {
  EXPECT_THAT(vm_names("{{.Host}}-{{.Index}}", "node7", 3),
              ElementsAre("node7-0", "node7-1", "node7-2"));
  EXPECT_THROW(vm_names("same", "h", 2), UsageError);
  EXPECT_THAT(vm_names("same", "h", 1), ElementsAre("same"));
  EXPECT_THROW(vm_names("{{.Nme}}-{{.Index}}", "h", 1), UsageError);
  EXPECT_THROW(vm_names("a/{{.Index}}", "h", 1), UsageError);
}

TEST(FleetPlan, GivesEachVmItsOwnImage) {
  FleetSpec spec;
  spec.groups = {{"", 3, ""}};
  spec.host = "node7";
  const auto vms = fleet(spec, "[j]\nioengine=rbd\nrbdname={{.Name}}\nsize=1m\n");
  ASSERT_EQ(vms.size(), 3u);
  EXPECT_EQ(vms[2].name, "node7-2");
  EXPECT_EQ(vms[2].index, 2);
  EXPECT_EQ(image_of(vms[2].jobs.at(0)), "rbd/node7-2");
}

TEST(FleetPlan, RefusesTwoVmsOnOneImageUnlessTold) {
  FleetSpec spec;
  spec.groups = {{"", 2, ""}};
  spec.host = "h";
  try {
    fleet(spec, "[j]\nioengine=rbd\nrbdname=one\nsize=1m\n");
    FAIL() << "two VMs share an image";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("h-0 and h-1"));
    EXPECT_THAT(error.what(), HasSubstr("rbd/one"));
  }
  spec.shared_image = true;
  EXPECT_EQ(fleet(spec, "[j]\nioengine=rbd\nrbdname=one\nsize=1m\n").size(), 2u);
}

TEST(FleetPlan, SeesThroughTheSpellingsOfOneImage) {
  FleetSpec spec;
  spec.groups = {{"", 2, ""}};
  spec.vm_name = "v{{.Index}}";
  EXPECT_THROW(fleet(spec, "[j]\nioengine=rbd\npool=p\nrbdname=p/one\nsize=1m\n"), UsageError);
}

TEST(FleetPlan, SeveralJobsOfOneVmMayShareItsImage) {
  FleetSpec spec;
  spec.host = "h";
  EXPECT_EQ(
      fleet(spec, "[global]\nioengine=rbd\nrbdname=one\nsize=1m\n[a]\n[b]\n").at(0).jobs.size(),
      2u);
}

}  // namespace
}  // namespace cephmark
