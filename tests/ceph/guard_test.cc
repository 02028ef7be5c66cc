// The guard of `cephmark run`, and what else happens to a cluster while a run goes on: the load is
// taken off within 2 s of the monitors' word, what was measured is kept and marked.
#include <unistd.h>

#include <algorithm>

#include "run_harness.h"

namespace cephmark {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace testing_support;

Json health() {
  return parse_json(run_or_throw({"ceph", "health", "--format", "json"}), "ceph health");
}
bool reports(const std::string& check) {
  return health().at("checks").contains(check);
}

/// A setting of the cluster's daemons, for as long as this object lives.
class ClusterOption {
 public:
  ClusterOption(std::string who, std::string name, const std::string& value)
      : who_(std::move(who)), name_(std::move(name)) {
    run_or_throw({"ceph", "config", "set", who_, name_, value});
  }
  ~ClusterOption() { run_command({"ceph", "config", "rm", who_, name_}); }
  ClusterOption(const ClusterOption&) = delete;
  ClusterOption& operator=(const ClusterOption&) = delete;

 private:
  std::string who_, name_;
};

class Guard : public RunTest {
 protected:
  void TearDown() override {
    for (int osd = 0; osd < lab_.osd_count(); ++osd) {
      lab_.start_osd(osd);
      lab_.resume_osd(osd);
    }
    RunTest::TearDown();
    EXPECT_TRUE(eventually([] { return is_well(); })) << health();
  }
  /// Of its own Python modules Debian trixie's ceph-mgr complains always.
  static bool is_well() {
    Json checks = health().at("checks");
    checks.erase("MGR_MODULE_DEPENDENCY");
    return checks.empty();
  }
  /// A run that goes on until something ends it; with the guard unless `unguarded`.
  ChildProcess load(std::vector<std::string> more = {}, bool unguarded = false) {
    std::vector<std::string> words = {job("rw=randwrite\niodepth=4\ntime_based\nruntime=600\n"),
                                      "--quiet",
                                      "--grace",
                                      "2s",
                                      "--output",
                                      "json:" + path("o.json")};
    words.insert(words.end(), more.begin(), more.end());
    words = run_words(words);
    if (!unguarded) {
      std::erase(words, "--no-guard");
      // In a lab it is off unless asked for.
      if (std::find(words.begin(), words.end(), "--guard") == words.end())
        words.insert(words.end(), {"--guard", "all"});
    }
    words.insert(words.begin(), required_variable("CEPHMARK"));
    ChildOptions options;
    options.out_path = path("out");
    options.err_path = path("err");
    return ChildProcess::start(words, options);
  }
  /// Waits for the monitors' word; the load then ends in time, and the result says why.
  void expect_stop(ChildProcess& child, const std::string& check) {
    int64_t told_ns = 0, slowest_ns = 0;
    ASSERT_TRUE(eventually([&] {
      const int64_t begun_ns = monotonic_ns();
      const bool told = reports(check);
      slowest_ns = std::max(slowest_ns, monotonic_ns() - begun_ns);
      if (told) told_ns = wall_ns();
      return told || !child.running();
    }));
    EXPECT_EQ(wait_for(child), 3) << text("err");
    const RunResult result = parse_result(text("o.json"), "o.json");
    EXPECT_THAT(result.stop_reason, AllOf(HasSubstr("guard: "), HasSubstr(check)));
    EXPECT_GT(result.total(Op::kWrite).ios, 0u);
    EXPECT_FALSE(result.vms.at(0).jobs.at(0).finished);
    int64_t stopped_ns = 0;
    for (const auto& phase : result.phases)
      if (phase.kind == PhaseKind::kMeasure) stopped_ns = result.start_wall_ns + phase.end_ns;
    // As late again as this machine answers a question.
    if (!told_ns) return;  // it had ended before we could ask
    EXPECT_LT(stopped_ns, told_ns + 2 * kNsPerSecond + 2 * slowest_ns);
  }

  Lab lab_ = Lab::open(required_variable("CEPHMARK_LAB_DIR"));
};

// Those that take long run with `./dev test --full`.
using GuardAtLength = Guard;

TEST_F(Guard, SlowOperationsStopTheLoad) {
  const ClusterOption soon("osd", "osd_op_complaint_time", "1");
  make_images(1);
  auto child = load();
  wait_for_writes(child);
  lab_.pause_osd(0);
  expect_stop(child, "SLOW_OPS");
}

// fio ends on its own as soon as its I/O comes back, or is killed: only the stop is ours.
TEST_F(Guard, SlowOperationsStopAFleetOfFio) {
  if (run_command({"fio", "--version"}).exit_code) GTEST_SKIP() << "NOT TESTED: there is no fio";
  const ClusterOption soon("osd", "osd_op_complaint_time", "1");
  make_images(1);
  auto child = load({"--runner", "fio"});
  wait_for_writes(child);
  lab_.pause_osd(0);
  EXPECT_EQ(wait_for(child), 3) << text("err");
  EXPECT_THAT(parse_result(text("o.json"), "o.json").stop_reason,
              AllOf(HasSubstr("guard: "), HasSubstr("SLOW_OPS")));
}

TEST_F(GuardAtLength, InactivePlacementGroupsStopTheLoad) {
  const ClusterOption soon("global", "mon_pg_stuck_threshold", "1");
  make_images(1);
  auto child = load({"--guard", "inactive-pgs"});
  wait_for_writes(child);
  run_or_throw({"ceph", "osd", "pool", "set", "rbd", "min_size", "3"});
  lab_.stop_osd(0);
  expect_stop(child, "PG_AVAILABILITY");
  run_or_throw({"ceph", "osd", "pool", "set", "rbd", "min_size", "2"});
}

// HNG-06: a pool that takes no more. What the run left in it is named, and can be removed while the
// pool is full.
TEST_F(GuardAtLength, AQuotaThatIsReachedStopsTheLoadAndCleanupRemovesTheImages) {
  const std::string pool = prefix_ + "quota";
  run_or_throw({"ceph", "osd", "pool", "create", pool, "8"});
  run_or_throw({"rbd", "pool", "init", pool});
  auto child = load({"--set", "pool=" + pool, "--create", "64M", "--remove"});
  ASSERT_TRUE(eventually([&] {
    return run_or_throw({"rados", "-p", pool, "ls"}).find("rbd_data") != std::string::npos ||
           !child.running();
  }));
  run_or_throw({"ceph", "osd", "pool", "set-quota", pool, "max_bytes", "1048576"});
  expect_stop(child, "POOL_FULL");
  EXPECT_THAT(text("err"), HasSubstr("cephmark cleanup "));
  const auto cleaned = cephmark({"cleanup"});
  EXPECT_EQ(cleaned.exit_code, 0) << cleaned.out << cleaned.err;
  EXPECT_THAT(run_or_throw({"rbd", "ls", pool}), IsEmpty());
  run_or_throw({"ceph", "osd", "pool", "rm", pool, pool, "--yes-i-really-really-mean-it"});
}

// Scrub, a lost OSD and recovery inside the window do not stop an unguarded run: they are reported.
TEST_F(GuardAtLength, ScrubRecoveryAndHealthInsideTheWindowAreReported) {
  const ClusterOption scrub("osd", "osd_scrub_sleep", "1"),
      recovery("osd", "osd_recovery_sleep", "1");
  make_images(1);
  prefill(1);
  auto child = load({}, true);
  const auto seen = [&](const std::string& word, int looks) {
    int count = 0;
    return eventually([&] {
      const std::string status = run_or_throw({"ceph", "status"});
      count = status.find(word) != std::string::npos ? count + 1 : 0;
      return count >= looks || !child.running();
    });
  };
  ASSERT_TRUE(eventually([&] { return watchers(0) > 0 || !child.running(); }));
  run_or_throw({"ceph", "osd", "deep-scrub", "all"});
  EXPECT_TRUE(seen("scrubbing", 3));
  lab_.stop_osd(0);
  EXPECT_TRUE(seen("osds down", 6) || seen("osd down", 6));
  lab_.start_osd(0);
  EXPECT_TRUE(seen("recover", 4));
  child.signal(SIGINT);
  EXPECT_EQ(wait_for(child), 130) << text("err");
  const RunResult result = parse_result(text("o.json"), "o.json");
  EXPECT_THAT(result.witness.background_work, Contains("scrubbing"));
  EXPECT_THAT(result.witness.background_work, Contains(HasSubstr("recover")));
  EXPECT_THAT(result.witness.health_changes, Contains(HasSubstr("OSD_DOWN")));
  std::vector<std::string> codes;
  for (const auto& taint : result.taints) codes.push_back(taint.code);
  EXPECT_THAT(codes, AllOf(Contains("recovery-or-scrub"), Contains("health-change")));
}

}  // namespace
}  // namespace cephmark
