// The fleet's images on a real cluster: whose they are, what is refused, prefill, and clean-up.
#include "fleet_harness.h"

namespace cephmark {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing_support::Fleet;

TEST_F(Fleet, MakesTagsFindsAndRemovesImages) {
  EXPECT_EQ(create_volumes(context_, specs(5), {.size_bytes = 16 * kMiB}, true).created.size(), 5u);
  EXPECT_TRUE(state(spec("3")).ours);
  EXPECT_EQ(manifest_->open_count(), 0u) << "they are to stay";
  const auto again = create_volumes(context_, specs(6), {.size_bytes = 16 * kMiB}, true);
  EXPECT_EQ(again.found.size(), 5u);
  EXPECT_EQ(again.created.size(), 1u);
  EXPECT_THAT(refusal([&] { create_volumes(context_, specs(6), {.size_bytes = 32 * kMiB}, true); }),
              HasSubstr("has 16 MiB instead of 32 MiB"));
  EXPECT_EQ(remove_volumes(context_, specs(6)), 6u);
  EXPECT_EQ(remove_volumes(context_, specs(6)), 0u) << "removing twice does no harm";
}

TEST_F(Fleet, ACloneAndACopyOfATaggedImageAreNotOurs) {
  create_volumes(context_, {spec("origin")}, {.size_bytes = 16 * kMiB}, true);
  prefill_volumes(context_, {spec("origin")});
  rbd({"snap", "create", "--no-progress", spec("origin").text() + "@s"});
  rbd({"clone", "--rbd-default-clone-format", "2", spec("origin").text() + "@s",
       spec("clone").text()});
  rbd({"cp", "--no-progress", spec("origin").text(), spec("copy").text()});
  for (const char* name : {"clone", "copy"}) {
    const auto other = state(spec(name));
    EXPECT_TRUE(other.tag) << "metadata is inherited";
    EXPECT_FALSE(other.ours) << name;
    EXPECT_EQ(other.decide(Action::kWriteJob).verdict, Verdict::kRefused) << name;
    EXPECT_EQ(other.decide(Action::kWriteJob, true).verdict, Verdict::kAllowed) << name;
    EXPECT_THAT(refusal([&] { remove_volumes(context_, {spec(name)}); }),
                HasSubstr("a clone or a copy"));
  }
  rbd({"rm", "--no-progress", spec("clone").text()});
  rbd({"snap", "rm", "--no-progress", spec("origin").text() + "@s"});
}

TEST_F(Fleet, ACloneThatWeMakeIsOurs) {
  image_of_somebody_else("base", true);
  rbd({"snap", "create", "--no-progress", spec("base").text() + "@s"});
  ImageShape shape;
  shape.clone_from = spec("base");
  shape.clone_from->snapshot = "s";
  shape.size_bytes = 32 * kMiB;
  create_volumes(context_, {spec("vm")}, shape, true);
  const auto clone = state(spec("vm"));
  EXPECT_TRUE(clone.ours);
  EXPECT_EQ(clone.parent, spec("base").text() + "@s");
  EXPECT_EQ(clone.size_bytes, 32 * kMiB) << "grown beyond its parent";
  remove_volumes(context_, {spec("vm")});
  rbd({"snap", "rm", "--no-progress", spec("base").text() + "@s"});
}

TEST_F(Fleet, DataWithoutATagIsRefusedAndNothingIsTouched) {
  image_of_somebody_else("data", true);
  image_of_somebody_else("empty", false);
  EXPECT_THAT(
      refusal([&] {
        prefill_volumes(context_, {spec("data"), spec("empty")});
      }),
      AllOf(HasSubstr("holds data and does not carry cephmark's tag"), HasSubstr("--allow-write")));
  EXPECT_EQ(diff_bytes(spec("empty")), 0u) << "one refusal stops all";
  EXPECT_FALSE(state(spec("empty")).tag);
  EXPECT_THAT(refusal([&] { remove_volumes(context_, {spec("data")}); }),
              HasSubstr("was not made by cephmark"));
  EXPECT_THAT(
      refusal([&] { create_volumes(context_, {spec("data")}, {.size_bytes = kMiB}, true); }),
      HasSubstr("exists already"));
  context_.allow_write = {spec("data").text()};
  EXPECT_TRUE(prefill_volumes(context_, {spec("data")}).complete);
}

TEST_F(Fleet, AnEmptyImageIsAdoptedAtTheFirstWrite) {
  image_of_somebody_else("empty", false);
  EXPECT_EQ(state(spec("empty")).decide(Action::kWriteJob).verdict, Verdict::kAdopted);
  EXPECT_EQ(prefill_volumes(context_, {spec("empty")}).adopted.size(), 1u);
  EXPECT_TRUE(state(spec("empty")).ours);
  EXPECT_EQ(state(spec("empty")).decide(Action::kWriteJob).verdict, Verdict::kAllowed);
}

TEST_F(Fleet, SnapshotsWithoutATagAreRefused) {
  image_of_somebody_else("snapped", false);
  rbd({"snap", "create", "--no-progress", spec("snapped").text() + "@s"});
  EXPECT_EQ(state(spec("snapped")).decide(Action::kWriteJob).verdict, Verdict::kRefused);
  auto snapshot = spec("snapped");
  snapshot.snapshot = "s";
  EXPECT_EQ(state(snapshot).decide(Action::kReadJob).verdict, Verdict::kAllowed);
  EXPECT_EQ(state(snapshot).decide(Action::kWriteJob, true).verdict, Verdict::kRefused);
  rbd({"snap", "rm", "--no-progress", spec("snapped").text() + "@s"});
}

TEST_F(Fleet, AnotherClientsWatcherIsRefusedAlways) {
  create_volumes(context_, {spec("busy")}, {.size_bytes = 16 * kMiB}, true);
  const auto other = Cluster::connect({});
  const auto in_use = Image::open(other, spec("busy"), false);
  const auto busy = state(spec("busy"));
  EXPECT_TRUE(busy.report.has(TargetState::kForeignWatcher));
  EXPECT_EQ(busy.decide(Action::kWriteJob, true).verdict, Verdict::kRefused);
  EXPECT_EQ(busy.decide(Action::kReadJob).verdict, Verdict::kTainted);
  EXPECT_THAT(refusal([&] { prefill_volumes(context_, {spec("busy")}); }),
              HasSubstr("client." + std::to_string(other->instance_id())));
  WatcherKnowledge watchers;
  watchers.own = {cluster->instance_id(), other->instance_id()};
  EXPECT_EQ(examine_image(cluster, spec("busy"), watchers).decide(Action::kWriteJob).verdict,
            Verdict::kAllowed)
      << "an agent of the same run is no stranger";
}

TEST_F(Fleet, MoreThanThePoolCanTakeIsRefused) {
  const auto text =
      refusal([&] { create_volumes(context_, specs(4), {.size_bytes = 1 * kTiB}, true); });
  EXPECT_THAT(text, AllOf(HasSubstr("needs 4 TiB in pool rbd"), HasSubstr("below nearfull")));
  EXPECT_FALSE(state(spec("0")).exists);
  create_image(*cluster, spec("huge"), {.size_bytes = 1 * kTiB, .object_size_bytes = 32 * kMiB});
  EXPECT_THAT(refusal([&] { prefill_volumes(context_, {spec("huge")}); }),
              HasSubstr("below nearfull"));
}

TEST_F(Fleet, ACreationThatFailsIsTakenBack) {
  auto images = specs(3);
  images[2].rados_namespace = "there-is-no-such-namespace";
  EXPECT_THAT(refusal([&] { create_volumes(context_, images, {.size_bytes = 16 * kMiB}, true); }),
              HasSubstr("cannot create image"));
  EXPECT_EQ(manifest_->open_count(), 0u);
  for (const auto& image : images) EXPECT_FALSE(state(image).exists);
}

// RBD-03
TEST_F(Fleet, PrefillCoversTheWholeImageAndOnlyWhatIsMissing) {
  const uint64_t size = 33 * kMiB + 12'288;  // ends inside an object
  create_volumes(context_, specs(3), {.size_bytes = size}, true);
  Image::open(cluster, spec("1"), false)->write(5 * kMiB + 4096, std::string(2 * kMiB, 'x'));
  const auto report = prefill_volumes(context_, specs(3));
  EXPECT_TRUE(report.complete);
  EXPECT_EQ(report.total_bytes, 3 * size);
  EXPECT_EQ(report.written_bytes, 3 * size)
      << "the partly written object has holes that a diff does not show";
  for (const auto& image : specs(3)) EXPECT_EQ(diff_bytes(image), size);
  EXPECT_EQ(prefill_volumes(context_, specs(3)).written_bytes, 0u);
  EXPECT_EQ(prefill_volumes(context_, specs(3)).found_bytes, 3 * size);
}

TEST_F(Fleet, KilledWhilePrefillingItGoesOnAndWaitsForItsDeadWatcher) {
  create_volumes(context_, {spec("a")}, {.size_bytes = 512 * kMiB}, true);
  auto maker = manifest_->identity();  // a run that is over: this process would be a live one
  maker.pid_start += 1;
  tag_image(cluster, spec("a"), maker, true, false);
  const bool killed =
      kill_when({"volumes", "prefill", "--quiet", "--parallel", "2", spec("a").text()}, [&] {
        return state(spec("a")).report.has(TargetState::kForeignWatcher) &&
               Image::open(cluster, spec("a"), true)->allocated_bytes() > 16 * kMiB;
      });
  ASSERT_TRUE(killed) << "it ended before it could be killed";
  const auto dead = state(spec("a"));
  EXPECT_TRUE(dead.report.has(TargetState::kDeadWatcher));
  EXPECT_FALSE(dead.report.has(TargetState::kForeignWatcher));
  EXPECT_EQ(dead.decide(Action::kWriteJob).verdict, Verdict::kWaitedFor);
  const auto report = prefill_volumes(context_, {spec("a")});
  EXPECT_TRUE(report.complete);
  EXPECT_GT(report.found_bytes, 0u);
  EXPECT_EQ(diff_bytes(spec("a")), 512 * kMiB);
}

TEST_F(Fleet, CleanupLeavesALiveRunsImagesAlone) {
  create_volumes(context_, {spec("live")}, {.size_bytes = 16 * kMiB}, false);
  EXPECT_EQ(manifest_->open_count(), 1u);
  auto report = clean();
  EXPECT_TRUE(report.items.empty());
  EXPECT_EQ(report.live_runs.size(), 1u);
  CleanupOptions options;
  options.everything = true;
  clean_up_tagged(cluster, {"rbd"}, options, report);
  EXPECT_TRUE(state(spec("live")).exists);
}

TEST_F(Fleet, CleanupFromAnotherHostGoesByTheTag) {
  auto elsewhere = current_run_identity("20261130-run-elsewhere-" + std::to_string(::getpid()));
  elsewhere.host = "another-host";
  image_of_somebody_else("left", false);
  tag_image(cluster, spec("left"), elsewhere, false, false);
  image_of_somebody_else("adopted", false);
  tag_image(cluster, spec("adopted"), elsewhere, true, true);
  CleanupOptions options;
  options.everything = true;
  CleanupReport report;
  clean_up_tagged(cluster, {"rbd"}, options, report);
  EXPECT_TRUE(report.items.empty());
  EXPECT_THAT(report.other_hosts, testing::Contains(elsewhere.run_id + " of another-host"));
  options.everything = false;
  options.runs = {elsewhere.run_id};
  clean_up_tagged(cluster, {"rbd"}, options, report);
  ASSERT_EQ(report.items.size(), 1u);
  EXPECT_EQ(report.items[0].outcome, UndoOutcome::kUndone) << report.items[0].reason;
  EXPECT_FALSE(state(spec("left")).exists);
  EXPECT_TRUE(state(spec("adopted")).exists) << "somebody else made it";
}

TEST_F(Fleet, TheGuardJudgesAWholePlan) {
  image_of_somebody_else("empty", false);
  image_of_somebody_else("data", true);
  const auto plan_for = [&](const std::string& name, bool writes) {
    JobSpec job;
    job.name = "j";
    job.ioengine = "rbd";
    job.engine_options = {{"pool", "rbd"}, {"rbdname", spec(name).name}};
    job.rw.writes = writes;
    job.rw.reads = !writes;
    Plan plan;
    plan.vms.push_back({"vm", 0, "h", "", {job}});
    return plan;
  };
  GuardContext guard;
  guard.cluster = cluster;
  EXPECT_THAT(refusal([&] { guard_targets(plan_for("data", true), guard); }),
              HasSubstr("holds data"));
  EXPECT_THAT(refusal([&] { guard_targets(plan_for("nothing", false), guard); }),
              HasSubstr("does not exist"));
  const auto read = guard_targets(plan_for("data", false), guard);
  EXPECT_TRUE(read.taints.empty());  // how much is unwritten is told for all images together
  const auto write = guard_targets(plan_for("empty", true), guard);
  ASSERT_EQ(write.to_adopt.size(), 1u);
  adopt_images(write, manifest_->identity());
  EXPECT_TRUE(state(spec("empty")).ours);
}

TEST_F(Fleet, TheStoreOfARunningOsdIsRefusedAlways) {
  std::string store;
  if (const char* lab = std::getenv("CEPHMARK_LAB_DIR"); lab && fs::exists(lab))
    for (const auto& entry : fs::recursive_directory_iterator(lab))
      if (entry.path().filename() == "block" && entry.is_regular_file())
        store = entry.path().string();
  if (store.empty()) GTEST_SKIP() << "NOT TESTED: CEPHMARK_LAB_DIR holds no OSD's block file";
  const auto found = examine_path(store);
  EXPECT_TRUE(found.report.has(TargetState::kBlueStoreLabel));
  EXPECT_TRUE(found.report.has(TargetState::kOsdHolds));
  EXPECT_EQ(decide_all(found.kind, found.report.states(), Action::kWriteJob, {true}).verdict,
            Verdict::kRefused);
}

}  // namespace
}  // namespace cephmark
