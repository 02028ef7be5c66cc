// Runs that are killed in the middle of making an image: whatever half of it exists, clean-up ends
// with nothing left.
#include <rados/librados.h>

#include "base/child_process.h"
#include "base/fd.h"
#include "ceph/forgotten_watch.h"
#include "fleet_harness.h"
#include "lab/lab.h"
#include "support/ceph_test.h"

namespace cephmark {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing_support::eventually;
using testing_support::required_variable;

class CutOffCreation : public testing_support::Fleet {
 protected:
  static std::string header_of(const ImageSpec& image) {
    return "rbd_header." + Image::open(cluster, image, true)->id();
  }
  static void remove_object(const std::string& object) {
    const auto io = cluster->io("rbd");
    ASSERT_EQ(rados_remove(io.get(), object.c_str()), 0) << object;
  }
  /// The manifest of a dead run that was about to make this image.
  static void leave_manifest(const ImageSpec& image, const std::vector<uint64_t>& instances = {}) {
    std::string path;
    {
      const auto manifest =
          Manifest::create(make_run_id("cut-off"), cluster->target(), cluster->fsid());
      manifest->begin(ResourceKind::kImage, image.text());
      for (const uint64_t instance : instances) manifest->add_instance(instance);
      path = manifest->content().path;
    }
    // This process lives; one of the same pid that began at another time does not.
    const std::string text = read_file(path);
    const size_t end = text.find('\n');
    Json first = parse_json(text.substr(0, end), path);
    first["pid_start"] = first.at("pid_start").get<uint64_t>() + 1;
    write_file_atomically(path, first.dump() + text.substr(end));
  }
  void expect_nothing_left(const CleanupReport& report) const {
    for (const auto& item : report.items) {
      EXPECT_NE(item.outcome, UndoOutcome::kFailed) << item.target << ": " << item.reason;
      EXPECT_NE(item.outcome, UndoOutcome::kKept) << item.target << ": " << item.reason;
    }
    EXPECT_EQ(report.failures(), 0);
    for (const auto& name : list_images(*cluster, "rbd", ""))
      EXPECT_FALSE(name.starts_with(prefix_)) << name;
    EXPECT_THAT(objects(), Not(HasSubstr(prefix_)));
    EXPECT_EQ(list_manifests().size(), 1u) << "this test's own";
  }
  static std::string objects() { return run_or_throw({"rados", "-p", "rbd", "ls"}); }
};

// What librbd makes, in this order: the name in the pool's directory, the id, the header, the
// object map. Then we note the id and tag the image.
TEST_F(CutOffCreation, EveryHalfOfAnImageIsRemoved) {
  for (int missing = 0; missing <= 3; ++missing) {
    const auto image = spec("half-" + std::to_string(missing));
    create_image(*cluster, image, {.size_bytes = 16 * kMiB});
    const std::string header = header_of(image), id = header.substr(header.find('.') + 1);
    if (missing >= 1) remove_object("rbd_object_map." + id);
    if (missing >= 2) remove_object(header);
    if (missing >= 3) remove_object("rbd_id." + image.name);
    leave_manifest(image);
    const auto report = clean();
    ASSERT_EQ(report.items.size(), 1u);
    EXPECT_EQ(report.items[0].outcome, UndoOutcome::kUndone) << report.items[0].reason;
    expect_nothing_left(report);
    EXPECT_THAT(objects(), Not(HasSubstr(id)));
    create_image(*cluster, image, {.size_bytes = 16 * kMiB});  // the name is free
    remove_image(*cluster, image);
  }
}

// The client dies while a replica has not yet written its watch down: the OSDs keep that watch and
// never end it (forgotten_watch.h).
TEST_F(CutOffCreation, AWatchThatTheOsdsForgotToEndIsTakenOff) {
  const auto image = spec("watched");
  create_image(*cluster, image, {.size_bytes = 16 * kMiB});
  const std::string header = header_of(image);
  const Json map =
      cluster->monitor_command({{"prefix", "osd map"}, {"pool", "rbd"}, {"object", header}});
  const int primary = map.at("acting_primary");
  int replica = -1;
  for (const int osd : map.at("acting"))
    if (osd != primary) replica = osd;
  Lab lab = Lab::open(required_variable("CEPHMARK_LAB_DIR"));
  lab.pause_osd(replica);
  {
    const std::string nowhere = directory_ + "/watch";
    auto client = ChildProcess::start({"rados", "-p", "rbd", "watch", header},
                                      {.out_path = nowhere, .err_path = nowhere});
    EXPECT_TRUE(eventually([&] {
      const std::string waiting =
          cluster->osd_command(primary, {{"prefix", "dump_ops_in_flight"}}).dump();
      return waiting.find(header) != std::string::npos &&
             waiting.find("watch") != std::string::npos;
    }));
    client.signal(SIGKILL);
    EXPECT_TRUE(eventually([&] { return !client.running(); }));
  }
  ::usleep(1'000'000);  // later is no fault: the watch is then an ordinary one of a dead client
  lab.resume_osd(replica);
  std::vector<ImageWatcher> watchers;
  ASSERT_TRUE(eventually([&] {
    watchers = Image::open(cluster, image, true)->watchers();
    return !watchers.empty();
  }));
  leave_manifest(image, {watchers.at(0).client});
  EXPECT_TRUE(state(image).report.has(TargetState::kDeadWatcher));
  expect_nothing_left(clean(2 * kNsPerSecond));
}

// A header that is put in place anew says what it said before.
TEST_F(CutOffCreation, TakingAWatchOffChangesNothingElse) {
  const auto image = spec("kept");
  create_volumes(context_, {image}, {.size_bytes = 16 * kMiB}, true);
  const auto other = Cluster::connect({});
  const auto in_use = Image::open(other, image, false);
  in_use->write(0, std::string(4096, 'x'));  // it holds the exclusive lock now
  const std::string before = run_or_throw({"rbd", "info", image.text()});
  EXPECT_FALSE(drop_forgotten_watches(cluster, image, {})) << "it lives";
  EXPECT_EQ(Image::open(cluster, image, true)->watchers().size(), 1u);
  // Taken off a client that lives, it comes back by itself.
  drop_forgotten_watches(cluster, image, {other->instance_id()});
  EXPECT_TRUE(
      eventually([&] { return Image::open(cluster, image, true)->watchers().size() == 1; }));
  EXPECT_TRUE(state(image).ours) << "its metadata is there";
  EXPECT_EQ(run_or_throw({"rbd", "info", image.text()}), before);
  in_use->write(8192, std::string(4096, 'x'));
}

TEST_F(CutOffCreation, KilledWhileMakingImagesNothingIsLeftAfterCleanup) {
  const bool killed = kill_when({"volumes", "create", "--quiet", "--vms", "200", "--vm-name",
                                 prefix_ + "{{.Index}}", "--size", "16M"},
                                [&] { return state(spec("10")).exists; });
  ASSERT_TRUE(killed) << "it ended before it could be killed";
  ASSERT_EQ(list_manifests().size(), 2u) << "its manifest and this test's own";
  // Watches that are a second old are not yet over: they are taken off, too.
  expect_nothing_left(clean(1 * kNsPerSecond));
}

}  // namespace
}  // namespace cephmark
