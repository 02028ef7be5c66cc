// The rbd engine on real images.

#include <rbd/librbd.h>

#include <filesystem>

#include "base/fd.h"
#include "engine_harness.h"

namespace cephmark {
namespace {

using test::EngineUnderTest;
using test::error_of;
using test::own_name;
using testing::AllOf;
using testing::HasSubstr;

constexpr uint64_t kImageBytes = 16 << 20;

int count_entries(const char* directory) {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory)) ++count;
  return count;
}

class RbdEngine : public testing::Test {
 protected:
  static void SetUpTestSuite() { cluster = Cluster::connect({}); }
  static void TearDownTestSuite() { cluster.reset(); }

  void SetUp() override {
    spec = {"rbd", "", own_name("image"), ""};
    create_image(*cluster, spec, {.size_bytes = kImageBytes});
    under_test.job().ioengine = "rbd";
    use(spec.name);
  }
  void TearDown() override {
    under_test.close();
    remove_image(*cluster, spec);
  }
  void use(const std::string& rbdname, const std::string& pool = "rbd") {
    under_test.job().engine_options = {{"pool", pool}, {"rbdname", rbdname}};
  }
  std::unique_ptr<Image> look(bool read_only = true) {
    return Image::open(cluster, spec, read_only);
  }

  static std::shared_ptr<Cluster> cluster;
  ImageSpec spec;
  EngineUnderTest under_test;
};
std::shared_ptr<Cluster> RbdEngine::cluster;

TEST_F(RbdEngine, ReadsBackWhatWasWrittenTrimmedAndZeroed) {
  const TargetInfo info = under_test.open();
  EXPECT_EQ(info.name, spec.text());
  EXPECT_EQ(info.size_bytes, kImageBytes);
  EXPECT_EQ(under_test.io(Op::kWrite, 8192, 4096, 'w'), 4096);
  EXPECT_EQ(under_test.io(Op::kFlush, 0, 0), 0);
  EXPECT_EQ(under_test.io(Op::kRead, 8192, 4096), 4096);
  EXPECT_EQ(under_test.text(4096), std::string(4096, 'w'));
  EXPECT_EQ(under_test.io(Op::kRead, 4096, 4096), 4096);
  EXPECT_EQ(under_test.text(4096), std::string(4096, '\0'));
  EXPECT_EQ(under_test.io(Op::kWriteZeroes, 8192, 4096), 4096);
  EXPECT_EQ(under_test.io(Op::kRead, 8192, 4096), 4096);
  EXPECT_EQ(under_test.text(4096), std::string(4096, '\0'));
  EXPECT_EQ(under_test.io(Op::kWrite, 4 << 20, 4096, 'x'), 4096);
  EXPECT_EQ(under_test.io(Op::kTrim, 4 << 20, 4 << 20), 4 << 20);
  EXPECT_EQ(under_test.io(Op::kRead, 4 << 20, 4096), 4096);
  EXPECT_EQ(under_test.text(4096), std::string(4096, '\0'));
}

TEST_F(RbdEngine, DroppingCachesEmptiesLibrbds) {
  under_test.plan.rbd_cache = RbdCache::kWriteBack;
  const TargetInfo info = under_test.open();
  EXPECT_EQ(under_test.io(Op::kWrite, 0, 4096, 'a'), 4096);
  EXPECT_EQ(under_test.io(Op::kFlush, 0, 0), 0);
  const auto read = [&] {
    EXPECT_EQ(under_test.io(Op::kRead, 0, 4096), 4096);
    return under_test.text(1);
  };
  // Behind librbd's back: its own clients tell each other.
  const IoContext io = cluster->io("rbd");
  const std::string object = "rbd_data." + info.facts.at("image id") + ".0000000000000000";
  ASSERT_EQ(rados_write(io.get(), object.c_str(), "b", 1, 0), 0);
  EXPECT_EQ(read(), "a") << "no cache is at work: " << info.facts.at("cache");
  under_test.engine->drop_caches(30 * kNsPerSecond);
  EXPECT_EQ(read(), "b");
}

TEST_F(RbdEngine, AnIoBeyondTheEndFailsAndTheQueueGoesOn) {
  under_test.open();
  EXPECT_LE(under_test.io(Op::kWrite, kImageBytes + 4096, 4096, 'w'), 0);
  EXPECT_EQ(under_test.io(Op::kWrite, 0, 4096, 'w'), 4096);
}

TEST_F(RbdEngine, AWholeDepthComesBackOnce) {
  under_test.open();
  std::vector<IoRequest> requests(EngineUnderTest::kDepth);
  std::vector<IoRequest*> batch;
  for (unsigned i = 0; i < requests.size(); ++i) {
    requests[i].slot = i;
    requests[i].op = Op::kRead;
    requests[i].offset = i * 4096;
    requests[i].length = 4096;
    requests[i].buffer = under_test.buffer();
    batch.push_back(&requests[i]);
  }
  under_test.collector.reset();
  EXPECT_EQ(under_test.queue->submit(batch), static_cast<int>(batch.size()));
  ASSERT_TRUE(under_test.collector.wait(batch.size()));
  for (const auto& request : requests) EXPECT_EQ(request.result, 4096);
}

TEST_F(RbdEngine, TakesTheLockBeforeTheFirstWriteOnlyAndWritesNothingForIt) {
  under_test.open(false);
  auto owners = [&] {
    const IoContext io = cluster->io("rbd");
    rbd_image_t image = nullptr;
    EXPECT_EQ(rbd_open(io.get(), spec.name.c_str(), &image, nullptr),
              0);  // a read-only one is told of no owner
    rbd_lock_mode_t mode;
    char* names[8] = {};
    size_t count = 8;
    const int r = rbd_lock_get_owners(image, &mode, names, &count);
    if (r >= 0) rbd_lock_get_owners_cleanup(names, count);
    rbd_close(image);
    return r < 0 ? 0 : count;
  };
  EXPECT_EQ(owners(), 0u);
  under_test.engine->prepare(true, 60 * kNsPerSecond);
  EXPECT_EQ(owners(), 1u);
  EXPECT_FALSE(look()->has_data());
}

TEST_F(RbdEngine, LeavesNoThreadsDescriptorsOrWatchersBehind) {
  under_test.open();
  under_test.io(Op::kWrite, 0, 4096, 'w');
  under_test.close();
  const int threads = count_entries("/proc/self/task"), fds = count_entries("/proc/self/fd");
  for (int i = 0; i < 3; ++i) {
    under_test.open();
    under_test.io(Op::kWrite, 0, 4096, 'w');
    EXPECT_EQ(look()->watchers().size(), 1u);
    under_test.close();
  }
  EXPECT_TRUE(look()->watchers().empty());
  const int64_t end_ns = monotonic_ns() + 30 * kNsPerSecond;
  while (count_entries("/proc/self/task") > threads && monotonic_ns() < end_ns) ::usleep(10'000);
  EXPECT_EQ(count_entries("/proc/self/task"), threads);
  EXPECT_EQ(count_entries("/proc/self/fd"), fds);
}

TEST_F(RbdEngine, AllSpellingsOfAnImageReachIt) {
  use("rbd/" + spec.name, "nowhere");
  EXPECT_EQ(under_test.open().name, spec.text());
  under_test.close();
  under_test.job().engine_options["clientname"] = "client.admin";
  EXPECT_EQ(under_test.open().facts.at("user"), "client.admin");
  under_test.close();
  under_test.job().engine_options["clientname"] = "admin";
  EXPECT_EQ(under_test.open().facts.at("user"), "client.admin");
}

TEST_F(RbdEngine, MissingImageNamesPoolImageUserErrnoAndASimilarName) {
  use(spec.name + "s");
  const std::string text = error_of([&] { under_test.open(); });
  EXPECT_THAT(text, AllOf(HasSubstr("rbd/" + spec.name + "s"), HasSubstr("client.admin"),
                          HasSubstr("ENOENT"), HasSubstr("similar: " + spec.name)));
}

TEST_F(RbdEngine, MissingPoolNamesASimilarOne) {
  use(spec.name, "rbdd");
  EXPECT_THAT(error_of([&] { under_test.open(); }),
              AllOf(HasSubstr("'rbdd'"), HasSubstr("client.admin"), HasSubstr("ENOENT"),
                    HasSubstr("did you mean rbd?")));
}

TEST_F(RbdEngine, MissingNamespaceAndSnapshotAreToldApart) {
  use("rbd/nospace/" + spec.name);
  EXPECT_THAT(error_of([&] { under_test.open(); }), HasSubstr("no namespace nospace"));
  under_test.close();
  under_test.job().rw.writes = false;
  use(spec.name + "@none");
  EXPECT_THAT(error_of([&] { under_test.open(); }),
              AllOf(HasSubstr("@none"), HasSubstr("its snapshot none is not")));
}

TEST_F(RbdEngine, AnImageInTheTrashIsSaidToBeThere) {
  const IoContext io = cluster->io("rbd");
  const std::string id = look()->id();
  ASSERT_EQ(rbd_trash_move(io.get(), spec.name.c_str(), 0), 0);
  EXPECT_THAT(error_of([&] { under_test.open(); }), HasSubstr("in the trash"));
  under_test.close();
  ASSERT_EQ(rbd_trash_restore(io.get(), id.c_str(), spec.name.c_str()), 0);
}

TEST_F(RbdEngine, MissingUserAndKeyringNameThemAndTheConf) {
  under_test.plan.limits.open_timeout_ns = 5 * kNsPerSecond;
  under_test.plan.ceph.user = "nobody-here";
  EXPECT_THAT(error_of([&] { under_test.open(); }),
              AllOf(HasSubstr("client.nobody-here"), HasSubstr("keyring"), HasSubstr("monitors")));
  under_test.plan.ceph = {.keyring = "/nonexistent/keyring"};
  EXPECT_THAT(error_of([&] { under_test.open(); }),
              AllOf(HasSubstr("/nonexistent/keyring"), HasSubstr("ENOENT")));
  under_test.plan.ceph = {.conf = "/nonexistent/ceph.conf"};
  EXPECT_THAT(error_of([&] { under_test.open(); }),
              AllOf(HasSubstr("/nonexistent/ceph.conf"), HasSubstr("ENOENT")));
}

// A user of this test, with its keyring.
class OtherUser {
 public:
  OtherUser(Cluster& cluster, const std::string& osd_caps) : cluster_(cluster) {
    const Json answer =
        cluster.monitor_command({{"prefix", "auth get-or-create"},
                                 {"entity", name},
                                 {"caps", {"mon", "profile rbd", "osd", osd_caps}}});
    write_keyring(answer.at(0).at("key"));
  }
  ~OtherUser() {
    std::filesystem::remove(keyring);
    cluster_.monitor_command({{"prefix", "auth rm"}, {"entity", name}});
  }
  void write_keyring(const std::string& key) {
    write_file_atomically(keyring, "[" + name + "]\n\tkey = " + key + "\n", 0600);
  }

  const std::string name = "client." + own_name("user");
  const std::string keyring = std::filesystem::temp_directory_path() / (own_name("keyring"));

 private:
  Cluster& cluster_;
};

TEST_F(RbdEngine, AKeyThatMayNotWriteReadsReadOnlyAndIsToldWhatItLacks) {
  const OtherUser user(*cluster, "profile rbd-read-only");
  under_test.plan.ceph = {.user = user.name, .keyring = user.keyring};
  under_test.job().rw.writes = false;
  const TargetInfo info = under_test.open(false);
  EXPECT_EQ(info.facts.at("open"), "read-only (the key may not write)");
  EXPECT_EQ(info.facts.at("user"), user.name);
  EXPECT_EQ(info.warnings.size(), 1u);
  EXPECT_EQ(under_test.io(Op::kRead, 0, 4096), 4096);
  under_test.close();
  under_test.job().rw.writes = true;
  EXPECT_THAT(
      error_of([&] { under_test.open(); }),
      AllOf(HasSubstr(spec.text()), HasSubstr(user.name), HasSubstr("profile rbd pool=rbd")));
}

TEST_F(RbdEngine, AWrongKeyIsSaidToBeOne) {
  OtherUser user(*cluster, "profile rbd");
  user.write_keyring("AQDxxHZlAAAAABAA2Nf0Ptx7f4UHQkcqV5uYtw==");
  under_test.plan.ceph = {.user = user.name, .keyring = user.keyring};
  EXPECT_THAT(error_of([&] { under_test.open(); }),
              AllOf(HasSubstr("do not accept the key of " + user.name), HasSubstr(user.keyring)));
}

TEST_F(RbdEngine, AnEmptyOrTooSmallImageIsRefused) {
  under_test.job().size = {SizeSpec::Kind::kBytes, 2 * kImageBytes};
  EXPECT_THAT(error_of([&] { under_test.open(); }),
              HasSubstr("has size 16 MiB, job test needs 32 MiB"));
  under_test.close();
  rbd_image_t image = nullptr;
  const IoContext io = cluster->io("rbd");
  ASSERT_EQ(rbd_open(io.get(), spec.name.c_str(), &image, nullptr), 0);
  ASSERT_EQ(rbd_resize(image, 0), 0);
  rbd_close(image);
  under_test.job().size = {SizeSpec::Kind::kBytes, 64 << 20};
  EXPECT_THAT(error_of([&] { under_test.open(); }), HasSubstr("has size 0, job test needs 64 MiB"));
}

TEST_F(RbdEngine, SaysWhatTheCacheIsAndWhoSetIt) {
  EXPECT_EQ(under_test.open().facts.at("cache"), "off; set by cephmark");
  under_test.close();
  under_test.plan.rbd_cache = RbdCache::kWriteBack;
  EXPECT_THAT(
      under_test.open().facts.at("cache"),
      AllOf(HasSubstr("on (writeback"), HasSubstr("set by cephmark"), HasSubstr("flushed once")));
  under_test.close();
  under_test.plan.rbd_cache = RbdCache::kAsFio;
  under_test.job().direct = true;
  EXPECT_EQ(under_test.open().facts.at("cache"), "off; set by cephmark");
  under_test.close();
  under_test.job().direct = false;
  EXPECT_THAT(under_test.open().facts.at("cache"), HasSubstr("on ("));
}

TEST_F(RbdEngine, AnImagesOwnCacheSettingAgainstOursIsAnErrorUnlessAccepted) {
  look(false)->set_metadata("conf_rbd_cache", "true");
  EXPECT_THAT(error_of([&] { under_test.open(); }),
              AllOf(HasSubstr("rbd_cache is set on the image"),
                    HasSubstr("rbd config image rm " + spec.text())));
  under_test.close();
  EXPECT_TRUE(look()->watchers().empty());
  under_test.plan.rbd_cache = RbdCache::kConf;
  EXPECT_THAT(under_test.open().facts.at("cache"),
              AllOf(HasSubstr("on ("), HasSubstr("set in the image")));
}

TEST_F(RbdEngine, SnapshotsAreReadOnlyAndNotWritten) {
  const IoContext io = cluster->io("rbd");
  rbd_image_t image = nullptr;
  ASSERT_EQ(rbd_open(io.get(), spec.name.c_str(), &image, nullptr), 0);
  ASSERT_EQ(rbd_snap_create(image, "s"), 0);
  use(spec.name + "@s");
  EXPECT_THAT(error_of([&] { under_test.open(); }), HasSubstr("writes to the snapshot"));
  under_test.close();
  under_test.job().rw.writes = false;
  EXPECT_EQ(under_test.open(false).facts.at("open"), "read-only (a snapshot)");
  EXPECT_EQ(under_test.io(Op::kRead, 0, 4096), 4096);
  under_test.close();
  ASSERT_EQ(rbd_snap_remove(image, "s"), 0);
  rbd_close(image);
}

TEST_F(RbdEngine, TheExclusiveLockOfAnotherClientIsNamed) {
  const IoContext io = cluster->io("rbd");
  rbd_image_t image = nullptr;
  ASSERT_EQ(rbd_open(io.get(), spec.name.c_str(), &image, nullptr), 0);
  ASSERT_EQ(rbd_lock_acquire(image, RBD_LOCK_MODE_EXCLUSIVE), 0);  // not handed over
  under_test.open(false);
  EXPECT_THAT(error_of([&] { under_test.engine->prepare(true, 60 * kNsPerSecond); }),
              AllOf(HasSubstr("exclusive lock of " + spec.text()), HasSubstr("EROFS"),
                    HasSubstr("held by")));
  under_test.close();
  rbd_close(image);
}

TEST_F(RbdEngine, QosLimitsInForceAreFacts) {
  look(false)->set_metadata("conf_rbd_qos_iops_limit", "4");
  EXPECT_EQ(under_test.open().facts.at("qos"), "iops_limit 4 (set on the image)");
}

}  // namespace
}  // namespace cephmark
