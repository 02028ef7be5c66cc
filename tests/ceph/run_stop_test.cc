// `cephmark run` that is stopped: by signals, by a cluster that stops answering, by the guard, by
// kill -9. What was measured is kept and marked, nothing of the run stays behind, and it ends.
#include "run_harness.h"

namespace cephmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using namespace testing_support;

class RunStop : public RunTest {
 protected:
  std::string long_job() const { return job("rw=randwrite\niodepth=4\ntime_based\nruntime=600\n"); }
  /// A run of two images of its own that measures.
  ChildProcess measuring(std::vector<std::string> more = {}) {
    std::vector<std::string> words = {long_job(),       "--vms",    "2",
                                      "--create",       "64M",      "--remove",
                                      "--quiet",        "--output", "json:" + path("o.json"),
                                      "--open-timeout", "10s"};
    words.insert(words.end(), more.begin(), more.end());
    ChildProcess child = start(words);
    wait_for_writes(child);
    return child;
  }
  void expect_nothing_left() {
    EXPECT_THAT(images(), IsEmpty());
    EXPECT_EQ(manifests(), 0u);
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(manifest_directory()))
      files += entry.is_regular_file();
    EXPECT_EQ(files, 0u) << "of a run that left nothing";
  }
};

TEST_F(RunStop, ASignalKeepsWhatWasMeasuredAndRemovesTheImages) {
  const struct {
    int number, code;
    const char* reason;
  } kCases[] = {{SIGINT, 130, "SIGINT"}, {SIGTERM, 143, "SIGTERM"}, {SIGHUP, 129, "SIGHUP"}};
  for (const auto& one : kCases) {
    auto child = measuring();
    child.signal(one.number);
    EXPECT_EQ(wait_for(child), one.code) << text("err");
    const RunResult told = result("o.json");
    EXPECT_EQ(told.stop_reason, std::string("interrupted (") + one.reason + ")");
    EXPECT_GT(told.total(Op::kWrite).ios, 0u);
    EXPECT_FALSE(told.vms[0].jobs[0].finished);
    expect_nothing_left();
  }
}

TEST_F(RunStop, WhileImagesAreMadeThatIsTakenBack) {
  auto child = start({long_job(), "--vms", "200", "--create", "8M", "--remove", "--quiet",
                      "--output", "json:" + path("o.json")});
  ASSERT_TRUE(eventually([&] { return images().size() > 5 || !child.running(); }));
  child.signal(SIGTERM);
  EXPECT_EQ(wait_for(child), 143) << text("err");
  EXPECT_THAT(result("o.json").error, HasSubstr("interrupted"));
  expect_nothing_left();
}

TEST_F(RunStop, WhilePrefillingNothingIsMeasured) {
  auto child = start({long_job(), "--create", "4G", "--prefill", "--remove", "--quiet", "--output",
                      "json:" + path("o.json")});
  wait_for_writes(child);
  child.signal(SIGINT);
  EXPECT_EQ(wait_for(child), 130) << text("err");
  EXPECT_THAT(text("err"), HasSubstr("nothing was measured"));
  EXPECT_THAT(result("o.json").stop_reason, HasSubstr("SIGINT"));
  expect_nothing_left();
}

// HNG-01
TEST_F(RunStop, WhenAllOsdsStandStillOneSignalIsEnough) {
  auto child = measuring({"--grace", "3s"});
  pause_osds();
  const int64_t begun_ns = monotonic_ns();
  child.signal(SIGINT);
  EXPECT_EQ(wait_for(child), 130) << text("err");
  EXPECT_LT(monotonic_ns() - begun_ns, 30 * kNsPerSecond);
  const RunResult told = result("o.json");
  EXPECT_GT(told.total(Op::kWrite).ios, 0u);
  EXPECT_GT(told.vms[0].jobs[0].abandoned + told.vms[1].jobs[0].abandoned, 0);
  EXPECT_THAT(text("err"), HasSubstr("cephmark cleanup "));
  resume_osds();
}

// Images made beforehand: nothing of the run is to be removed, but its watchers stand on them.
TEST_F(RunStop, ImagesThatItCouldNotCloseAreNotTakenForAStrangers) {
  make_images(1);
  auto child = start({long_job(), "--quiet", "--grace", "1s"});
  wait_for_writes(child);
  pause_osds();
  child.signal(SIGINT);
  EXPECT_EQ(wait_for(child), 130) << text("err");
  resume_osds();
  auto next = start({long_job()});
  EXPECT_TRUE(eventually([&] {
    return text("err").find("dead run of cephmark") != std::string::npos || !next.running();
  }));
  EXPECT_TRUE(next.running()) << text("err");
  next.signal(SIGINT);
  EXPECT_EQ(wait_for(next), 130) << text("err");
  EXPECT_EQ(cephmark({"cleanup"}).exit_code, 0);
  EXPECT_EQ(manifests(), 0u);
}

TEST_F(RunStop, ASecondSignalLeavesAtOnce) {
  auto child = measuring({"--grace", "100s"});
  pause_osds();
  child.signal(SIGINT);
  ::usleep(500'000);
  EXPECT_TRUE(child.running());
  const int64_t begun_ns = monotonic_ns();
  child.signal(SIGINT);
  EXPECT_EQ(wait_for(child), 130);
  EXPECT_LT(monotonic_ns() - begun_ns, 15 * kNsPerSecond);
  EXPECT_EQ(manifests(), 1u) << "what it left is known";
  resume_osds();
}

TEST_F(RunStop, OsdsThatStandStillBeforeItBeginsAreGivenUpByName) {
  make_images(1);
  pause_osds();
  const auto ended =
      run({long_job(), "--quiet", "--open-timeout", "2s", "--output", "json:" + path("o.json")});
  EXPECT_EQ(ended.exit_code, 3) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("looking at the"), HasSubstr(image(0)),
                               HasSubstr("nothing came from the"), HasSubstr("OSDs")));
  EXPECT_THAT(result("o.json").error, Not(IsEmpty()));
  auto child = start({long_job(), "--quiet", "--open-timeout", "100s"});
  ::usleep(1'500'000);
  child.signal(SIGINT);
  EXPECT_EQ(wait_for(child, 30 * kNsPerSecond), 130) << text("err");
  resume_osds();
}

TEST_F(RunStop, TheGuardTakesTheLoadOffAPoolThatGetsFull) {
  make_images(1);
  std::vector<std::string> words =
      run_words({long_job(), "--quiet", "--output", "json:" + path("o.json")});
  std::erase(words, "--no-guard");
  words.insert(words.end(), {"--guard", "all"});
  words.insert(words.begin(), required_variable("CEPHMARK"));
  ChildOptions options;
  options.out_path = path("out");
  options.err_path = path("err");
  auto child = ChildProcess::start(words, options);
  wait_for_writes(child);
  run_or_throw({"ceph", "osd", "set-nearfull-ratio", "0.00001"});
  EXPECT_EQ(wait_for(child, 60 * kNsPerSecond), 3) << text("err");
  run_or_throw({"ceph", "osd", "set-nearfull-ratio", "0.85"});
  const RunResult told = result("o.json");
  EXPECT_THAT(told.stop_reason, AllOf(HasSubstr("guard"), HasSubstr("NEARFULL")));
  EXPECT_GT(told.total(Op::kWrite).ios, 0u);
  EXPECT_TRUE(eventually([] {
    return run_or_throw({"ceph", "health"}).find("near") == std::string::npos;
  }));
}

TEST_F(RunStop, KilledItLeavesAManifestThatCleanupGoesBy) {
  auto child = measuring();
  child.signal(SIGKILL);
  wait_for(child);
  EXPECT_EQ(images().size(), 2u);
  EXPECT_EQ(manifests(), 1u);
  drop_watchers();
  ASSERT_TRUE(eventually([&] { return watchers(0) + watchers(1) == 0; }));
  const auto cleaned = cephmark({"cleanup"});
  EXPECT_EQ(cleaned.exit_code, 0) << cleaned.out << cleaned.err;
  expect_nothing_left();
}

}  // namespace
}  // namespace cephmark
