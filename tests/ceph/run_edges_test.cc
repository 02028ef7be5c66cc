// `cephmark run` at its edges on a real cluster: images that shrink, lie in the trash or are locked
// by others, clones, erasure-coded data, keys that may not be read, a full disk, cached reads.
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run_harness.h"

namespace cephmark {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace testing_support;

class RunEdges : public RunTest {
 protected:
  std::string write_job() const { return job("rw=randwrite\niodepth=4\nio_size=256k\n"); }
  static std::string taint_of(const RunResult& result, const std::string& code) {
    for (const auto& taint : result.taints)
      if (taint.code == code) return taint.text;
    return "";
  }
  std::string open_image_text(int index) const { return "rbd/" + image(index); }
};

// NUM-12: reads that a cache on this machine answers: both numbers and their ratio are told.
TEST_F(RunEdges, ReadsThatNeverReachTheClusterAreToldByItsOwnCounters) {
  make_images(1, "16M");
  prefill(1);
  const auto ended =
      run({job("rw=randread\niodepth=4\nsize=2m\ntime_based\nruntime=2\n"), "--rbd-cache",
           "writeback", "--quiet", "--output", "json:" + path("o.json"), "--output", "text"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  const RunResult told = result("o.json");
  ASSERT_TRUE(told.witness.available) << told.witness.unavailable_reason;
  EXPECT_GT(told.witness.client_read_bytes, told.witness.read_bytes * 11 / 10);
  EXPECT_THAT(taint_of(told, "counters-disagree"), HasSubstr("ratio"));
  EXPECT_THAT(ended.out, HasSubstr("counters-disagree"));
}

// RBD-01: N images of N VMs start, whatever N.
TEST_F(RunEdges, AnyNumberOfVmsStarts) {
  make_images(64, "8M");
  for (const int count : {1, 2, 4, 5, 8, 16, 64}) {
    const auto ended = run({job("rw=randwrite\niodepth=16\nio_size=64k\n"), "--quiet", "--vms",
                            std::to_string(count), "--output", "json:" + path("o.json")});
    ASSERT_EQ(ended.exit_code, 0) << count << ": " << ended.err;
    const RunResult told = result("o.json");
    ASSERT_EQ(told.vms.size(), static_cast<size_t>(count));
    for (const auto& vm : told.vms) EXPECT_EQ(vm.jobs.at(0).find(Op::kWrite)->ios, 16u);
  }
}

TEST_F(RunEdges, APlanRefusesWhatTheRunWouldRefuse) {
  const std::string text = write_job();
  const auto too_big = run({text, "--plan", "--create", "900T"});
  EXPECT_EQ(too_big.exit_code, 3) << too_big.out;
  EXPECT_THAT(too_big.out, AllOf(HasSubstr("900 TiB"), HasSubstr("does not fit")));
  EXPECT_THAT(too_big.err, HasSubstr("free there below nearfull"));
  make_images(1, "16M");
  const auto other_size = run({text, "--plan", "--create", "32M"});
  EXPECT_EQ(other_size.exit_code, 3) << other_size.out;
  EXPECT_THAT(other_size.err, HasSubstr("has 16 MiB instead of 32 MiB"));
  EXPECT_EQ(run({text, "--plan", "--create", "16M"}).exit_code, 0);
}

// Two VMs on one image have it open twice, and its lock goes from hand to hand.
TEST_F(RunEdges, VmsThatShareAnImageAreToldOfItsLock) {
  make_images(1, "16M");
  const std::string path =
      job("rw=randwrite\niodepth=2\nio_size=64k\nrbdname=" + image(0) + "\n", "shared.fio");
  const auto ended = run({path, "--quiet", "--vms", "2", "--shared-image", "--output",
                          "json:" + this->path("o.json")});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  int told = 0;
  for (const auto& taint : result("o.json").taints)
    told += taint.text.find("hand its exclusive lock to each other") != std::string::npos;
  EXPECT_EQ(told, 1);
}

// RBD-02: an image that shrinks while it is read.
TEST_F(RunEdges, AnImageThatShrinksUnderARunEndsItWithAnError) {
  make_images(1);
  prefill(1);
  auto child = start({job("rw=randread\niodepth=4\ntime_based\nruntime=600\n"), "--quiet",
                      "--output", "json:" + path("o.json")});
  ASSERT_TRUE(eventually([&] { return watchers(0) > 0 || !child.running(); }));
  run_or_throw(
      {"rbd", "resize", "--no-progress", "--allow-shrink", "--size", "4M", open_image_text(0)});
  EXPECT_EQ(wait_for(child), 1) << text("err");
  const RunResult told = result("o.json");
  EXPECT_GT(told.error_count(), 0u);
  ASSERT_FALSE(told.vms.empty() || told.vms[0].jobs[0].error_samples.empty()) << text("err");
  EXPECT_GE(told.vms[0].jobs[0].error_samples[0].offset, 4u << 20);
}

// RBD-06: why an image cannot be had is said.
TEST_F(RunEdges, AnImageInTheTrashAndOneThatOthersHaveLocked) {
  make_images(2);
  run_or_throw({"rbd", "trash", "mv", open_image_text(0)});
  const auto gone = run({write_job(), "--quiet"});
  EXPECT_EQ(gone.exit_code, 3) << gone.err;
  EXPECT_THAT(gone.err, AllOf(HasSubstr(image(0)), HasSubstr("in the trash")));
  for (const auto& entry :
       parse_json(run_or_throw({"rbd", "trash", "ls", "--format", "json"}), "rbd trash ls"))
    if (entry.at("name") == image(0))
      run_or_throw({"rbd", "trash", "restore", entry.at("id").get<std::string>()});

  run_or_throw({"rbd", "lock", "add", open_image_text(1), "by-hand"});
  const auto locked =
      run({write_job(), "--quiet", "--set", "rbdname=" + image(1), "--open-timeout", "10s"});
  EXPECT_EQ(locked.exit_code, 3) << locked.err;
  EXPECT_THAT(locked.err,
              AllOf(HasSubstr(open_image_text(1)), HasSubstr("lock"), HasSubstr("by-hand")));
  EXPECT_FALSE(has_data(1));
  const auto removed = cephmark({"volumes", "remove", image(1)});
  EXPECT_THAT(removed.err, HasSubstr("by-hand"));
  for (const auto& lock : parse_json(
           run_or_throw({"rbd", "lock", "ls", "--format", "json", open_image_text(1)}), "locks"))
    run_or_throw({"rbd", "lock", "rm", open_image_text(1), "by-hand", lock.at("locker")});
}

TEST_F(RunEdges, TheCopyUpOfClonesIsReportedApart) {
  make_images(1, "32M");
  prefill(1);
  run_or_throw({"rbd", "snap", "create", "--no-progress", open_image_text(0) + "@s"});
  const auto ended = run({job("rw=randwrite\niodepth=4\nio_size=64k\n"), "--quiet", "--set",
                          "rbdname=" + image(1), "--create", "32M", "--clone-from",
                          open_image_text(0) + "@s", "--remove", "--output", "text"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("copy-up"));
  run_or_throw({"rbd", "snap", "rm", "--no-progress", open_image_text(0) + "@s"});
  EXPECT_EQ(images().size(), 1u);
}

TEST_F(RunEdges, AKeyringThatMayNotBeReadIsNamed) {
  ASSERT_EQ(::chmod(scratch_.path().c_str(), 0777), 0);
  std::filesystem::copy_file(std::filesystem::path(lab_conf()).parent_path() / "keyring",
                             path("keyring"));
  ASSERT_EQ(::chmod(path("keyring").c_str(), 0), 0);
  std::string conf = read_file(lab_conf());
  const size_t at = conf.find("keyring = "), end = conf.find('\n', at);
  conf.replace(at, end - at, "keyring = " + path("keyring"));
  write_file_atomically(path("ceph.conf"), conf, 0644);
  std::vector<std::string> words = run_words({write_job(), "--quiet", "--conf", path("ceph.conf")});
  ASSERT_EQ(::chmod(path("job.fio").c_str(), 0644), 0);
  words.insert(words.begin(), required_variable("CEPHMARK"));
  if (::geteuid() == 0)  // whom no mode holds up
    words.insert(words.begin(), {"setpriv", "--reuid", "65534", "--regid", "65534",
                                 "--clear-groups", "env", "CEPH_CONF="});
  const auto ended = run_command(words, {.directory = "/"});
  EXPECT_EQ(ended.exit_code, 3) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr(path("keyring")), HasSubstr("client.admin"),
                               AnyOf(HasSubstr("EACCES"), HasSubstr("may not"))));
}

TEST_F(RunEdges, DataInAnErasureCodedPool) {
  const std::string pool = prefix_ + "ec";
  run_or_throw({"ceph", "osd", "erasure-code-profile", "set", pool, "k=2", "m=1",
                "crush-failure-domain=osd"});
  run_or_throw({"ceph", "osd", "pool", "create", pool, "8", "8", "erasure", pool});
  run_or_throw({"ceph", "osd", "pool", "set", pool, "allow_ec_overwrites", "true"});
  run_or_throw({"ceph", "osd", "pool", "application", "enable", pool, "rbd"});
  const auto made = cephmark({"volumes", "create", "--quiet", "--vms", "1", "--vm-name", vm_name(),
                              "--size", "16M", "--data-pool", pool, "--prefill"});
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(run_or_throw({"rbd", "info", open_image_text(0)}), HasSubstr("data_pool: " + pool));
  const auto planned = run({write_job(), "--plan"});
  EXPECT_THAT(planned.out, HasSubstr("EC 2+1"));
  const auto ended = run({write_job(), "--quiet", "--output", "json:" + path("o.json")});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(result("o.json").total(Op::kWrite).bytes, 256u << 10);
  const auto removed = cephmark({"volumes", "remove", image(0)});
  EXPECT_EQ(removed.exit_code, 0) << removed.err;
  EXPECT_THAT(run_or_throw({"rados", "-p", pool, "ls"}), testing::Not(HasSubstr("rbd_data")));
  run_or_throw({"ceph", "osd", "pool", "rm", pool, pool, "--yes-i-really-really-mean-it"});
  run_or_throw({"ceph", "osd", "erasure-code-profile", "rm", pool});
}

// HNG-05: a result that cannot be kept is an error, and the table is shown all the same.
TEST_F(RunEdges, AFullDiskForResultsIsSaidAndCostsNoCleanUp) {
  const std::string disk = path("disk");
  std::filesystem::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=16k"))
    GTEST_SKIP() << "NOT TESTED: a full disk is a small tmpfs, which may not be mounted here";
  const auto ended =
      run({write_job(), "--quiet", "--create", "16M", "--remove", "--results-dir",
           disk + "/results", "--output", "table", "--output", "json:" + disk + "/o.json"});
  ::umount2(disk.c_str(), MNT_DETACH);
  EXPECT_EQ(ended.exit_code, 3) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr(disk), HasSubstr("ENOSPC")));
  EXPECT_THAT(ended.out, HasSubstr("Process"));
  EXPECT_THAT(images(), IsEmpty());
  EXPECT_EQ(manifests(), 0u);
}

}  // namespace
}  // namespace cephmark
