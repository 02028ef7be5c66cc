// The rados engine on real pools.

#include "engine_harness.h"
#include "fleet/guard.h"

namespace cephmark {
namespace {

using test::EngineUnderTest;
using test::error_of;
using test::own_name;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class RadosEngine : public testing::Test {
 protected:
  static void SetUpTestSuite() { cluster = Cluster::connect({}); }
  static void TearDownTestSuite() { cluster.reset(); }

  void SetUp() override {
    auto& job = under_test.job();
    job.ioengine = "rados";
    job.name = own_name("job");
    job.nrfiles = 4;
    job.size = {SizeSpec::Kind::kBytes, 4 * kObject};
    job.engine_options = {{"pool", "rbd"}};
  }
  std::string object(int index) { return under_test.job().name + ".0." + std::to_string(index); }

  // Size of an object, -1 when there is none.
  int64_t size_of(const std::string& name, const std::string& pool = "rbd",
                  const std::string& space = "") {
    const IoContext io = cluster->io(pool, space);
    uint64_t size = 0;
    time_t time;
    return rados_stat(io.get(), name.c_str(), &size, &time) < 0 ? -1 : static_cast<int64_t>(size);
  }

  static constexpr uint64_t kObject = 64 << 10;
  static std::shared_ptr<Cluster> cluster;
  EngineUnderTest under_test;
};
std::shared_ptr<Cluster> RadosEngine::cluster;

// RBD-07
TEST_F(RadosEngine, WritesObjectsInFullBeforeReadsAndRemovesThem) {
  const TargetInfo info = under_test.open();
  EXPECT_EQ(info.files, 4u);
  EXPECT_EQ(info.size_bytes, 4 * kObject);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(size_of(object(i)), static_cast<int64_t>(kObject));
  EXPECT_EQ(under_test.io(Op::kRead, kObject - 4096, 4096, 0, 3), 4096);
  EXPECT_NE(under_test.text(4096), std::string(4096, '\0'));
  EXPECT_EQ(under_test.io(Op::kWrite, 4096, 4096, 'w', 1), 4096);
  EXPECT_EQ(under_test.io(Op::kFlush, 0, 0), 0);
  EXPECT_EQ(under_test.io(Op::kRead, 4096, 4096, 0, 1), 4096);
  EXPECT_EQ(under_test.text(4096), std::string(4096, 'w'));
  EXPECT_EQ(under_test.io(Op::kTrim, 4096, 4096, 0, 1), 4096);
  EXPECT_EQ(under_test.io(Op::kRead, 4096, 4096, 0, 1), 4096);
  EXPECT_EQ(under_test.text(4096), std::string(4096, '\0'));
  under_test.close();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(size_of(object(i)), -1);
}

TEST_F(RadosEngine, WriteJobsTouchNothingFirstAndKeepWhatTheyAreToldToKeep) {
  under_test.job().rw.reads = false;
  under_test.job().engine_options["keep_objects"] = "1";
  under_test.open();
  EXPECT_EQ(size_of(object(0)), -1);
  EXPECT_EQ(under_test.io(Op::kWrite, 0, 4096, 'k'), 4096);
  under_test.close();
  EXPECT_EQ(size_of(object(0)), 4096);
  // The next run finds it under its stable name, does not write it and, as it was there, leaves it.
  under_test.job().engine_options.erase("keep_objects");
  EXPECT_THAT(error_of([&] { under_test.open(); }), HasSubstr("was there before"));
  under_test.close();
  under_test.job().rw.reads = true;
  under_test.job().rw.writes = false;
  under_test.job().size.value = 4 * 4096;
  under_test.open();
  EXPECT_EQ(under_test.io(Op::kRead, 0, 4096), 4096);
  EXPECT_EQ(under_test.text(4096), std::string(4096, 'k'));
  under_test.close();
  EXPECT_EQ(size_of(object(0)), 4096);
  EXPECT_EQ(size_of(object(1)), -1);
  const IoContext io = cluster->io("rbd");
  EXPECT_EQ(rados_remove(io.get(), object(0).c_str()), 0);
}

TEST_F(RadosEngine, ReadsOfMissingObjectsAreErrors) {
  under_test.job().rw.reads = false;
  under_test.open();
  EXPECT_EQ(under_test.io(Op::kRead, 0, 4096), -ENOENT);
  EXPECT_EQ(under_test.io(Op::kWrite, 0, 4096, 'w'), 4096) << "and the queue goes on";
}

TEST_F(RadosEngine, ForeignObjectsAreNotOverwrittenUnlessNamed) {
  const std::string name = own_name("foreign");
  const IoContext io = cluster->io("rbd");
  ASSERT_EQ(rados_write_full(io.get(), name.c_str(), "precious", 8), 0);
  under_test.job().filenames = {name};
  EXPECT_THAT(error_of([&] { under_test.open(); }),
              AllOf(HasSubstr("rbd/" + name), HasSubstr("--allow-write")));
  under_test.close();
  under_test.job().rw.writes = false;
  EXPECT_THAT(error_of([&] { under_test.open(); }),
              AllOf(HasSubstr("has 8 B"), HasSubstr("reads 256 KiB")));
  under_test.close();
  EXPECT_EQ(size_of(name), 8);
  under_test.job().rw.writes = true;
  under_test.plan.grants.allow_write = {"rbd/" + name.substr(0, name.size() - 2) + "*"};
  under_test.open();
  under_test.close();
  EXPECT_EQ(size_of(name), 4 * static_cast<int64_t>(kObject)) << "it was there before: it stays";
  EXPECT_EQ(rados_remove(io.get(), name.c_str()), 0);
}

TEST_F(RadosEngine, TellsOfObjectsBeforeTheyAreMade) {
  std::vector<std::string> told;
  const std::function<void(const std::vector<std::string>&)> tell =
      [&](const std::vector<std::string>& names) {
        told = names;
        EXPECT_EQ(size_of(object(0), "rbd", "space"), -1);
      };
  under_test.job().engine_options["namespace"] = "space";
  under_test.about_to_create_objects = &tell;
  under_test.open();
  EXPECT_EQ(told.size(), 4u);
  EXPECT_EQ(told[0], "rbd/space/" + object(0));
  EXPECT_EQ(size_of(object(0), "rbd", "space"), static_cast<int64_t>(kObject));
}

TEST_F(RadosEngine, AFleetsVmsAndItsRunsHaveTheirOwnObjects) {
  under_test.plan.command = "run";
  under_test.run_id = "run-1";
  EXPECT_EQ(under_test.open().name, "rbd/run-1.vm-0." + object(0) + " and 3 more");
  under_test.close();
  under_test.job().engine_options["object_names"] = "vm";
  EXPECT_EQ(under_test.open().name, "rbd/vm-0." + object(0) + " and 3 more");
  under_test.close();
  under_test.job().engine_options["object_names"] = "fio";
  EXPECT_EQ(under_test.open().name, "rbd/" + object(0) + " and 3 more");
}

TEST_F(RadosEngine, TheGuardAsksForEveryObjectThatMayBeThere) {
  under_test.plan.command = "run";
  under_test.job().engine_options["object_names"] = "fio";
  GuardContext context;
  context.cluster = cluster;
  context.run_id = "run-1";
  EXPECT_EQ(guard_targets(under_test.plan, context).writable.size(), 4u);
  const IoContext io = cluster->io("rbd");
  ASSERT_EQ(rados_write_full(io.get(), object(2).c_str(), "precious", 8), 0);
  EXPECT_THAT(error_of([&] { guard_targets(under_test.plan, context); }),
              AllOf(HasSubstr("rbd/" + object(2) + " was there before this run: 8 bytes"),
                    Not(HasSubstr(object(1)))));
  under_test.job().rw.writes = false;
  guard_targets(under_test.plan, context);  // reading it is nobody's harm
  under_test.job().rw.writes = true;
  under_test.plan.grants.allow_write = {"rbd/" + object(2)};
  guard_targets(under_test.plan, context);
  under_test.plan.grants.allow_write.clear();
  under_test.job().engine_options.erase("object_names");
  EXPECT_TRUE(guard_targets(under_test.plan, context).writable.empty()) << "names of the run's own";
  EXPECT_EQ(rados_remove(io.get(), object(2).c_str()), 0);
}

TEST_F(RadosEngine, TooLargeObjectsAndMissingSizesAreRefusedWithWords) {
  under_test.job().size.value = uint64_t{8} << 30;
  EXPECT_THAT(error_of([&] { under_test.open(); }), HasSubstr("osd_max_object_size"));
  under_test.close();
  under_test.job().size = {};
  EXPECT_THAT(error_of([&] { under_test.open(); }), HasSubstr("does not say how large"));
}

TEST_F(RadosEngine, ObjectsOfAClonesAreAsLongAsItsOwnOffsetAsks) {
  JobSpec& job = under_test.job();
  job.nrfiles = 1;
  job.numjobs = 3;
  job.size.value = kObject;
  job.offset_increment = {SizeSpec::Kind::kBytes, 8192};
  const TargetInfo info = under_test.open();
  EXPECT_THAT(info.clone_size_bytes,
              testing::ElementsAre(kObject, kObject + 8192, kObject + 2 * 8192));
  EXPECT_EQ(size_of(under_test.job().name + ".2.0"), static_cast<int64_t>(kObject + 2 * 8192));
  under_test.close();
}

TEST_F(RadosEngine, ErasureCodedPoolsWithoutOverwritesAreAppendedToInTheirAlignment) {
  const std::string pool = own_name("ec");
  cluster->monitor_command({{"prefix", "osd erasure-code-profile set"},
                            {"name", pool},
                            {"profile", {"k=2", "m=1", "crush-failure-domain=osd"}},
                            {"force", true}});
  cluster->monitor_command({{"prefix", "osd pool create"},
                            {"pool", pool},
                            {"pg_num", 1},
                            {"pool_type", "erasure"},
                            {"erasure_code_profile", pool}});
  JobSpec& job = under_test.job();
  job.engine_options["pool"] = pool;
  const JobSpec appending = [&] {
    JobSpec copy = job;
    copy.rw.reads = false;
    copy.rw.writes = true;
    for (auto& sizes : copy.block_sizes) sizes.min_bytes = sizes.max_bytes = 8192;
    return copy;
  }();
  const auto refusal = [&](auto change) {
    job = appending;
    change(job);
    const std::string words = error_of([&] { under_test.open(); });
    under_test.close();
    EXPECT_THAT(words, HasSubstr("without overwrites"));
    return words;
  };
  EXPECT_THAT(refusal([](JobSpec& j) { j.rw.random = true; }), HasSubstr("random offsets"));
  EXPECT_THAT(refusal([](JobSpec& j) { j.rw.reads = true; }), HasSubstr("not written yet"));
  EXPECT_THAT(refusal([](JobSpec& j) { j.loops = 2; }), HasSubstr("loops"));
  EXPECT_THAT(refusal([](JobSpec& j) {
                j.offset = {SizeSpec::Kind::kBytes, 8192};
              }),
              HasSubstr("an offset"));
  EXPECT_THAT(refusal([](JobSpec& j) { j.block_sizes[1].min_bytes = 6000; }),
              AllOf(HasSubstr("it writes 6000 bytes at a time"), HasSubstr("bs=")));

  job = appending;
  const TargetInfo info = under_test.open();
  EXPECT_GT(info.block_size_bytes, 1u);
  EXPECT_EQ(under_test.io(Op::kWrite, 0, 8192, 'a'), 8192);
  EXPECT_EQ(under_test.io(Op::kWrite, 8192, 8192, 'b'), 8192);
  EXPECT_EQ(size_of(object(0), pool), 16384);
  under_test.close();

  job.rw.reads = job.rw.random = true;
  job.rw.writes = false;
  under_test.open();
  EXPECT_EQ(size_of(object(0), pool), static_cast<int64_t>(kObject));
  EXPECT_EQ(under_test.io(Op::kRead, 0, 4096), 4096);
  under_test.close();
  cluster->monitor_command({{"prefix", "osd pool delete"},
                            {"pool", pool},
                            {"pool2", pool},
                            {"yes_i_really_really_mean_it", true}});
  cluster->monitor_command({{"prefix", "osd erasure-code-profile rm"}, {"name", pool}});
}

}  // namespace
}  // namespace cephmark
