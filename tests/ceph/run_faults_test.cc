// `cephmark run` where something is missing, forbidden or in use: what it says, its exit code, and
// that the documents asked for are documents all the same.
#include <sys/resource.h>

#include "run_harness.h"

namespace cephmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using namespace testing_support;

class RunFaults : public RunTest {
 protected:
  /// Runs a job that must fail, and returns what was said. The JSON says it, too.
  std::string failure(std::vector<std::string> words, int exit_code = 3) {
    std::filesystem::remove(path("o.json"));
    words.insert(words.end(), {"--output", "json:" + path("o.json")});
    const auto ended = run(std::move(words));
    EXPECT_EQ(ended.exit_code, exit_code) << ended.err;
    EXPECT_THAT(ended.out, IsEmpty());
    const auto told = result("o.json");
    EXPECT_THAT(told.error, Not(IsEmpty()));
    EXPECT_THAT(ended.err, HasSubstr(told.error));
    return ended.err;
  }
  std::string write_job() const { return job("rw=randwrite\ntime_based\nruntime=1\n"); }
  std::string read_job() const { return job("rw=randread\ntime_based\nruntime=1\n", "read.fio"); }
  /// A key of a user with these OSD caps.
  std::string keyring(const std::string& user, const std::string& osd_caps) const {
    run_or_throw({"ceph", "auth", "get-or-create", "client." + user, "mon", "profile rbd", "osd",
                  osd_caps, "-o", path(user + ".keyring")});
    return path(user + ".keyring");
  }
};

// RBD-06, HNG-05
TEST_F(RunFaults, AMissingImageIsNamedWithTheOneThatMayBeMeant) {
  make_images(1);
  EXPECT_THAT(failure({write_job(), "--set", "rbdname=" + image(0) + "x"}),
              AllOf(HasSubstr("rbd/" + image(0) + "x does not exist"),
                    HasSubstr("did you mean rbd/" + image(0) + "?")));
  const auto missing = [&](const std::string& rbdname) {
    return failure({job("rw=read\n"), "--set", "rbdname=" + rbdname}, 3);
  };
  EXPECT_THAT(missing(image(0) + "@before"),
              HasSubstr("the image is there, its snapshot before is not"));
  EXPECT_THAT(missing("rbd/nowhere/" + image(0)),
              HasSubstr("the pool rbd has no namespace nowhere"));
}

TEST_F(RunFaults, AMissingPoolOrNamespaceIsNamed) {
  EXPECT_THAT(failure({write_job(), "--set", "pool=rdb"}),
              AllOf(HasSubstr("the pool 'rdb' as client.admin"), HasSubstr("did you mean rbd?")));
  make_images(1);
  EXPECT_THAT(failure({write_job(), "--set", "rbdnamespace=nowhere"}),
              HasSubstr("rbd/nowhere/" + image(0)));
}

// RBD-02
TEST_F(RunFaults, ImagesTooSmallForTheJobAreNamed) {
  run_or_throw({"rbd", "create", "--size", "0", "rbd/" + image(0)});
  for (const std::string& file : {write_job(), read_job()})
    EXPECT_THAT(failure({file}), HasSubstr("image rbd/" + image(0) + " has size 0"));
  run_or_throw({"rbd", "resize", "--no-progress", "--size", "16M", "rbd/" + image(0)});
  EXPECT_THAT(failure({write_job(), "--set", "size=64m"}),
              AllOf(HasSubstr("has size 16 MiB"), HasSubstr("needs 64 MiB")));
}

TEST_F(RunFaults, KeysAndUsersThatDoNotFit) {
  make_images(1);
  EXPECT_THAT(failure({write_job(), "--keyring", path("none")}),
              AllOf(HasSubstr("keyring " + path("none")), HasSubstr("--keyring"),
                    HasSubstr("client.admin")));
  EXPECT_THAT(failure({write_job(), "--user", "nobody"}),
              AllOf(HasSubstr("client.nobody"), HasSubstr("EACCES")));
  const std::string key = keyring("run-test-ro", "profile rbd-read-only");
  EXPECT_THAT(failure({write_job(), "--user", "run-test-ro", "--keyring", key}),
              AllOf(HasSubstr("client.run-test-ro"), HasSubstr("EPERM"), HasSubstr("caps")));
  const auto reads = run({read_job(), "--user", "run-test-ro", "--keyring", key, "--quiet"});
  EXPECT_EQ(reads.exit_code, 0) << reads.err;
  run_or_throw({"ceph", "auth", "rm", "client.run-test-ro"});
}

TEST_F(RunFaults, MonitorsThatDoNotAnswerAreGivenUpInTime) {
  write_file_atomically(path("dead.conf"),
                        "[global]\nmon host = [v2:127.0.0.1:9,v1:127.0.0.1:10]\nkeyring = " +
                            std::filesystem::path(lab_conf()).parent_path().string() +
                            "/keyring\n");
  const int64_t begun_ns = monotonic_ns();
  EXPECT_THAT(failure({write_job(), "--conf", path("dead.conf"), "--open-timeout", "2s"}),
              AllOf(HasSubstr("monitors [v2:127.0.0.1:9"), HasSubstr("waited up to 2 s")));
  EXPECT_LT(monotonic_ns() - begun_ns, 60 * kNsPerSecond);
}

TEST_F(RunFaults, AnImageInUseIsNeverWrittenAndReadWithATaint) {
  make_images(1);
  const auto other = Cluster::connect({});
  const auto in_use = Image::open(other, {"rbd", "", image(0), ""}, false);
  EXPECT_THAT(failure({write_job(), "--allow-write", "rbd/*"}),
              AllOf(HasSubstr("rbd/" + image(0) + " is in use by another client"),
                    HasSubstr("client." + std::to_string(other->instance_id()))));
  EXPECT_FALSE(has_data(0));
  const auto reads = run({read_job(), "--output", "json:" + path("r.json")});
  EXPECT_EQ(reads.exit_code, 0) << reads.err;
  std::vector<std::string> codes;
  for (const auto& taint : result("r.json").taints) codes.push_back(taint.code);
  EXPECT_THAT(codes, testing::Contains("target-in-use"));
}

TEST_F(RunFaults, DataOfOthersAndCopiesOfOursAreNotOverwritten) {
  make_images(1);
  prefill(1);
  run_or_throw({"rbd", "cp", "--no-progress", "rbd/" + image(0), "rbd/" + image(1)});
  EXPECT_THAT(failure({write_job(), "--set", "rbdname=" + image(1)}), HasSubstr("--allow-write"));
  run_or_throw({"rbd", "create", "--size", "16M", "rbd/" + image(2)});
  run_or_throw({"rbd", "bench", "--io-type", "write", "--io-size", "4K", "--io-total", "16K",
                "rbd/" + image(2)});
  EXPECT_THAT(failure({write_job(), "--set", "rbdname=" + image(2)}),
              AllOf(HasSubstr("holds data and does not carry"), HasSubstr("--allow-write")));
  const auto granted = run(
      {write_job(), "--quiet", "--set", "rbdname=" + image(2), "--allow-write", "rbd/" + image(2)});
  EXPECT_EQ(granted.exit_code, 0) << granted.err;
}

TEST_F(RunFaults, MoreThanThePoolTakesIsRefusedAndNothingMade) {
  EXPECT_THAT(failure({write_job(), "--create", "1T", "--remove"}),
              AllOf(HasSubstr("below nearfull"), HasSubstr("3 replicas")));
  EXPECT_THAT(images(), IsEmpty());
  EXPECT_EQ(manifests(), 0u);
}

// NUM-09
TEST_F(RunFaults, AMistakeInTheJobFileIsInTheDocumentToo) {
  EXPECT_THAT(failure({job("rw=randwrite\nruntim=1\n")}, 2), HasSubstr("did you mean runtime?"));
}

TEST_F(RunFaults, AnOutputThatCannotBeWrittenKeepsNoOtherFromBeingWritten) {
  make_images(1);
  const auto full = run({write_job(), "--quiet", "--output", "text:/dev/full", "--output",
                         "json:" + path("o.json"), "--output", "csv"});
  EXPECT_EQ(full.exit_code, 3);
  EXPECT_THAT(full.err, AllOf(HasSubstr("/dev/full"), HasSubstr("ENOSPC")));
  EXPECT_EQ(result("o.json").error, "");
  EXPECT_THAT(full.out, HasSubstr("job"));
}

TEST_F(RunFaults, AFileThatMayNotGrowCostsNeitherTheOtherOutputsNorTheCleanUp) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto ended =
      run({write_job(), "--quiet", "--create", "16M", "--remove", "--no-keep", "--output",
           "json:" + path("o.json"), "--output", "table:" + path("o.txt")});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(ended.exit_code, 3) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("o.json"), HasSubstr("EFBIG")));
  EXPECT_FALSE(std::filesystem::exists(path("o.json"))) << "no half document";
  EXPECT_THAT(text("o.txt"), HasSubstr("Process"));
  EXPECT_THAT(images(), IsEmpty());
  EXPECT_EQ(manifests(), 0u);
}

TEST_F(RunFaults, TwoRunsSideBySideAndTheSecondOnOneImageIsRefused) {
  make_images(2);
  auto first = start({job("rw=randwrite\ntime_based\nruntime=8\n"), "--quiet"});
  wait_for_writes(first);
  EXPECT_THAT(failure({write_job()}), HasSubstr("is in use by another client"));
  const auto beside = run({write_job(), "--quiet", "--set", "rbdname=" + image(1)});
  EXPECT_EQ(beside.exit_code, 0) << beside.err;
  EXPECT_EQ(wait_for(first), 0) << text("err");
}

// SAF-05
TEST_F(RunFaults, EarlierResultFilesAreMovedAsideNotLost) {
  make_images(1);
  const std::vector<std::string> words = {write_job(),     "--quiet", "--results-dir",
                                          path("results"), "--host",  "h"};
  ASSERT_EQ(run(words).exit_code, 0);
  const std::string newest = path("results/job.fio_proc_1/test_result_h_proc_0");
  const std::string first = read_file(newest);
  ASSERT_EQ(run(words).exit_code, 0);
  EXPECT_NE(read_file(newest), first);
  size_t kept = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path("results")))
    if (entry.path().filename() != "job.fio_proc_1")
      kept += read_file(entry.path().string() + "/test_result_h_proc_0") == first;
  EXPECT_EQ(kept, 1u);
}

}  // namespace
}  // namespace cephmark
