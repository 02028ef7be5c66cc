// What a report says of a run on a real cluster is true: bytes against the OSDs' own counters,
// merged writes, unwritten images, caches, instances and leftovers in the manifest, keys that may
// not ask.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <set>

#include "base/child_process.h"
#include "base/fd.h"
#include "base/json.h"
#include "fleet/manifest.h"
#include "support/ceph_test.h"

namespace cephmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing_support::TemporaryDirectory;
namespace fs = std::filesystem;

class Facts : public testing::Test {
 protected:
  void TearDown() override {
    for (const auto& image : images_) run_command({"rbd", "rm", "--no-progress", "rbd/" + image});
  }

  std::string image(const std::string& name, const std::string& size = "64M") {
    std::string full = "facts-" + std::to_string(::getpid()) + "-" + name;
    images_.push_back(full);
    run_or_throw({"rbd", "create", "rbd/" + full, "--size", size});
    return full;
  }

  /// Runs a job of these lines; the result as JSON.
  Json run(const std::string& lines, std::vector<std::string> options = {}, int expected_exit = 0) {
    const std::string file = directory_.path() + "/facts.fio",
                      out = directory_.path() + "/out.json";
    write_file_atomically(file, "[facts]\n" + lines);
    std::vector<std::string> args = {"run",      file,          "--quiet",  "--no-keep",
                                     "--output", "json:" + out, "--output", "text"};
    args.insert(args.end(), options.begin(), options.end());
    const CommandResult done =
        testing_support::cephmark(args, {.environment = {{"XDG_STATE_HOME", state()}}});
    EXPECT_EQ(done.exit_code, expected_exit) << done.err;
    text_ = done.out;
    errors_ = done.err;
    return expected_exit == 0 ? parse_json(read_file(out), out) : Json();
  }
  std::string state() const { return directory_.path() + "/state"; }
  static std::string rbd_job(const std::string& image, const std::string& lines) {
    return "ioengine=rbd\npool=rbd\nrbdname=" + image + "\ndirect=1\nbs=4k\niodepth=16\n" + lines;
  }
  static bool has_taint(const Json& result, const std::string& code) {
    return !taint(result, code).empty();
  }
  static std::string taint(const Json& result, const std::string& code) {
    for (const Json& one : result.at("taints"))
      if (one.at("code") == code) return one.at("text");
    return "";
  }
  static void expect_bytes_agree(const Json& result, const char* osd, const char* client) {
    const double theirs = result.at("witness").at(osd), ours = result.at("witness").at(client);
    EXPECT_GT(ours, 0);
    EXPECT_NEAR(theirs / ours, 1, 0.01) << osd;
  }

  TemporaryDirectory directory_;
  std::vector<std::string> images_;
  std::string text_, errors_;
};

// librbd's scheduler merges adjacent small writes: fewer operations, the same bytes, no warning.
TEST_F(Facts, MergedWritesAreANeutralFact) {
  const std::string merged = image("merged"), plain = image("plain");
  run_or_throw({"rbd", "config", "image", "set", "rbd/" + plain, "rbd_io_scheduler", "none"});
  const Json simple = run(rbd_job(merged, "rw=write\nsize=16m\n"));
  expect_bytes_agree(simple, "write_bytes", "client_write_bytes");
  EXPECT_EQ(simple.at("witness").at("client_writes"), 4096);
  EXPECT_LT(simple.at("witness").at("write_ops"), 4096 / 2);
  EXPECT_FALSE(has_taint(simple, "counters-disagree"));
  EXPECT_THAT(text_, HasSubstr("librbd merged adjacent"));

  const Json none = run(rbd_job(plain, "rw=write\nsize=16m\n"));
  expect_bytes_agree(none, "write_bytes", "client_write_bytes");
  EXPECT_NEAR(none.at("witness").at("write_ops").get<double>(), 4096, 41);
  EXPECT_THAT(text_, Not(HasSubstr("librbd merged")));
}

// USE-01: 30 % written, all of it read.
TEST_F(Facts, AnUnwrittenImageIsToldAndPrefillMendsIt) {
  const std::string name = image("holes", "40M");
  run(rbd_job(name, "rw=write\nbs=4m\nsize=12m\n"));
  const std::string reads = rbd_job(name, "rw=randread\nio_size=4m\n");
  const Json holes = run(reads);
  EXPECT_THAT(taint(holes, "unwritten-image"), HasSubstr("70 % of"));
  EXPECT_THAT(taint(holes, "unwritten-image"), HasSubstr("--prefill"));
  // Only the part that is read counts.
  const Json part = run(rbd_job(name, "rw=randread\nsize=12m\nio_size=4m\n"));
  EXPECT_FALSE(has_taint(part, "unwritten-image"));
  const Json filled = run(reads, {"--prefill"});
  EXPECT_FALSE(has_taint(filled, "unwritten-image"));
  expect_bytes_agree(filled, "read_bytes", "client_read_bytes");
  // K8S-02: it fits into the memory of the OSDs.
  EXPECT_TRUE(has_taint(filled, "working-set-in-cache"));
  // An image that nobody ever wrote to: one line for all of them.
  EXPECT_THAT(taint(run(rbd_job(image("new"), "rw=randread\nio_size=1m\n")), "unwritten-image"),
              HasSubstr("100 % of"));
}

TEST_F(Facts, TheClusterAndItsPoolsStandInTheResult) {
  const Json result = run(rbd_job(image("pool"), "rw=randwrite\nio_size=2m\nsize=16m\n"));
  const Json& cluster = result.at("environment").at("cluster");
  EXPECT_THAT(cluster.at("version").get<std::string>(), testing::MatchesRegex("[0-9]+[.].*"));
  EXPECT_THAT(cluster.at("pool rbd").get<std::string>(), HasSubstr("replicas (min_size "));
  EXPECT_THAT(cluster.at("pool rbd").get<std::string>(), HasSubstr("application rbd"));
  EXPECT_THAT(cluster.at("fill rbd").get<std::string>(), HasSubstr(" %"));
  EXPECT_TRUE(cluster.contains("fill rbd at end"));
  EXPECT_TRUE(cluster.contains("health_at_end"));
  EXPECT_GT(result.at("budget_ops"), 0);
  EXPECT_GT(result.at("budget_bytes"), 0);
}

// fio's direct=0 leaves librbd's cache as configured, which is on by default.
// RBD-04
TEST_F(Facts, TheCacheOfFioIsLabelledAndItsEndTimed) {
  const std::string name = image("cache");
  const std::string job = rbd_job(name, "rw=randwrite\nsize=16m\nio_size=4m\ndirect=0\n");
  const Json cached = run(job, {"--rbd-cache", "as-fio"});
  const Json& facts = cached.at("vms").at(0).at("targets").at(0).at("facts");
  EXPECT_THAT(facts.at("cache").get<std::string>(), HasSubstr("on (write"));
  EXPECT_TRUE(facts.contains("end flush"));
  EXPECT_THAT(taint(cached, "cache-mode"), HasSubstr("at the end took"));
  const Json off = run(job);
  EXPECT_FALSE(has_taint(off, "cache-mode"));
  EXPECT_FALSE(off.at("vms").at(0).at("targets").at(0).at("facts").contains("end flush"));
}

TEST_F(Facts, ASeedThatIsGivenCounts) {
  const std::string name = image("seed");
  const std::string job = rbd_job(name, "rw=randwrite\nsize=1m\nio_size=64k\n");
  const Json result = run(job, {"--seed", "77"});
  EXPECT_EQ(result.at("plan").at("seed"), 77);
  EXPECT_EQ(result.at("plan").at("vms").at(0).at("jobs").at(0).at("randseed"), 77);
}

TEST_F(Facts, AKeyThatMayNotAskSaysWhichCapIsMissing) {
  const std::string user = "client.facts-" + std::to_string(::getpid());
  const std::string keyring = directory_.path() + "/keyring";
  run_or_throw({"ceph", "auth", "get-or-create", user, "mon", "profile rbd", "osd", "profile rbd",
                "-o", keyring});
  const Json result = run(rbd_job(image("caps"), "rw=randwrite\nsize=16m\nio_size=1m\n"),
                          {"--user", user, "--keyring", keyring});
  run_command({"ceph", "auth", "rm", user});
  EXPECT_EQ(result.at("witness").at("available"), false);
  EXPECT_THAT(text_, HasSubstr("not available"));
  EXPECT_THAT(result.at("witness").at("unavailable_reason").get<std::string>(), HasSubstr("cap"));
}

// Space is counted where the data go, with the factor of that pool; making images is a phase.
TEST_F(Facts, ADataPoolIsToldWithItsFillAndFactor) {
  const std::string pool = "facts-data-" + std::to_string(::getpid());
  run_or_throw({"ceph", "osd", "pool", "create", pool, "8"});
  run_or_throw({"ceph", "osd", "pool", "set", pool, "size", "2"});
  run_or_throw({"ceph", "osd", "pool", "application", "enable", pool, "rbd"});
  const std::string name = "facts-data-" + std::to_string(::getpid());
  images_.push_back(name);
  const std::string job = rbd_job(name, "rw=randwrite\nsize=16m\nio_size=1m\n");
  const Json result = run(job, {"--create", "32M", "--data-pool", pool, "--prefill"});
  EXPECT_EQ(result.at("phases").at(0).at("kind"), "create");
  EXPECT_EQ(result.at("phases").at(1).at("kind"), "prefill");
  EXPECT_EQ(result.at("phases").at(2).at("kind"), "open");
  EXPECT_LE(result.at("phases").at(1).at("end_ns"), 0);
  EXPECT_THAT(result.at("environment").at("cluster").dump(), HasSubstr(pool));
  run(job, {"--plan"}, 0);
  EXPECT_THAT(text_, AllOf(HasSubstr("pool     " + pool + " (2 replicas): 1 image"),
                           HasSubstr("(32 MiB, data in " + pool + ")")));
  run_command({"rbd", "rm", "--no-progress", "rbd/" + name});
  run_command({"ceph", "osd", "pool", "rm", pool, pool, "--yes-i-really-really-mean-it"});
}

// Objects of a read job are laid out, announced, and gone afterwards; the manifest too.
TEST_F(Facts, ObjectsAndFilesAreRemovedAndStruckOut) {
  const std::string name = "facts-obj-" + std::to_string(::getpid());
  const Json objects =
      run("ioengine=rados\npool=rbd\nrw=randread\nbs=4k\nsize=8m\nnrfiles=2\nio_size=1m\n",
          {"--vms", "1", "--vm-name", name, "--no-files"});
  EXPECT_EQ(objects.at("summary").at("errors"), 0);
  EXPECT_THAT(run_or_throw({"rados", "-p", "rbd", "ls"}), Not(HasSubstr(name)));

  const std::string files =
      "ioengine=psync\nrw=randread\nbs=4k\nsize=1m\ndirectory=" + directory_.path() + "\n";
  run(files);
  EXPECT_FALSE(fs::exists(directory_.path() + "/facts.0.0"));
  run(files, {"--keep-files"});
  EXPECT_TRUE(fs::exists(directory_.path() + "/facts.0.0"));
  for (const auto& entry : fs::recursive_directory_iterator(state()))
    EXPECT_NE(entry.path().extension(), ".jsonl") << entry.path() << " was left";
}

// Every context of a run is in its manifest before it opens anything: should the run be killed, its
// watchers are known as those of a dead run of ours.
TEST_F(Facts, AllWatchersOfARunAreInItsManifest) {
  const std::string name = image("watched");
  const std::string file = directory_.path() + "/watched.fio";
  write_file_atomically(file,
                        "[facts]\n" + rbd_job(name, "rw=randread\ntime_based\nruntime=300\n"));
  ChildProcess child = ChildProcess::start(
      {testing_support::required_variable("CEPHMARK"), "run", file, "--quiet", "--no-keep"},
      {.environment = {{"XDG_STATE_HOME", directory_.path()}},
       .out_path = directory_.path() + "/out",
       .err_path = directory_.path() + "/err"});
  Json watchers;
  ASSERT_TRUE(testing_support::eventually([&] {
    const Json status = parse_json(
        run_or_throw({"rbd", "status", "rbd/" + name, "--format", "json"}), "rbd status");
    watchers = status.at("watchers");
    return !watchers.empty() || !child.running();
  }));
  ASSERT_TRUE(child.running()) << read_file(directory_.path() + "/err");
  std::set<uint64_t> instances;
  for (const auto& entry : fs::recursive_directory_iterator(directory_.path())) {
    if (entry.path().extension() != ".jsonl") continue;
    const auto content = load_manifest(entry.path().string());
    instances.insert(content.instances.begin(), content.instances.end());
  }
  for (const Json& watcher : watchers)
    EXPECT_TRUE(instances.count(watcher.at("client").get<uint64_t>())) << watcher.dump();
  EXPECT_GE(instances.size(), 2u);  // the one that asks, and the one that carries the load
  child.signal(SIGINT);
  ASSERT_TRUE(testing_support::eventually([&] { return !child.running(); }));
  EXPECT_EQ(child.exit_code(), 130);
}

}  // namespace
}  // namespace cephmark
