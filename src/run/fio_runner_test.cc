// Runs the real fio on this machine with the null engine.
#include "run/fio_runner.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <thread>

#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "base/time.h"
#include "run/fio_program.h"
#include "support/temporary_directory.h"

namespace cephmark {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

class FioRunnerTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return directory_ + "/" + name; }

  testing_support::TemporaryDirectory scratch_;
  const std::string directory_ = scratch_.path();
};

JobSpec null_job(const std::string& name,
                 std::vector<std::pair<std::string, std::string>> options) {
  JobSpec job;
  job.name = name;
  job.ioengine = "null";
  job.rw.writes = true;  // randrw
  job.written_options = {{"ioengine", "null"}, {"rw", "randrw"}, {"bs", "4k"}};
  job.written_options.insert(job.written_options.end(), options.begin(), options.end());
  return job;
}

Plan plan_of(int vms, const JobSpec& job) {
  Plan plan;
  plan.title = "null";
  for (int i = 0; i < vms; ++i) {
    VmPlan vm;
    vm.name = fmt::format("vm-{}", i);
    vm.index = i;
    vm.jobs = {job};
    plan.vms.push_back(vm);
  }
  return plan;
}

class Recorder : public Observer {
 public:
  void progress(const std::string&, uint64_t done, uint64_t) override { started = done; }
  void note(const std::string& text) override { notes.push_back(text); }
  void tick(const TickSample& sample) override {
    ticks.push_back(sample);
    if (on_tick) on_tick(sample);
  }
  uint64_t started = 0;
  std::vector<std::string> notes;
  std::vector<TickSample> ticks;
  std::function<void(const TickSample&)> on_tick;
};

// Our living children that run `program`.
std::vector<pid_t> children_running(const std::string& program) {
  std::vector<pid_t> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0) continue;
    try {
      const std::string stat = read_file(fmt::format("/proc/{}/stat", pid));
      const size_t close = stat.rfind(')');
      char state = 0;
      int parent = 0;
      if (std::sscanf(stat.c_str() + close + 2, "%c %d", &state, &parent) == 2 &&
          parent == getpid() && state != 'Z' && stat.find("(" + program + ")") != std::string::npos)
        found.push_back(pid);
    } catch (const Error&) {  // it ended meanwhile
    }
  }
  return found;
}

// Whether a fio has its job's thread and catches SIGINT: before that it knows of no report to
// write.
bool fio_is_at_work(pid_t pid) {
  int threads = 0;
  unsigned long long caught = 0;
  std::istringstream status(read_file(fmt::format("/proc/{}/status", pid)));
  for (std::string line; std::getline(status, line);) {
    std::sscanf(line.c_str(), "Threads: %d", &threads);
    std::sscanf(line.c_str(), "SigCgt: %llx", &caught);
  }
  return threads >= 3 && (caught >> (SIGINT - 1) & 1);
}

int alive_in_group(pid_t group) {
  int alive = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    if (std::atoi(entry.path().filename().c_str()) <= 0) continue;
    try {
      const std::string stat = read_file(entry.path().string() + "/stat");
      char state = 0;
      int parent = 0, its_group = 0;
      if (std::sscanf(stat.c_str() + stat.rfind(')') + 2, "%c %d %d", &state, &parent,
                      &its_group) == 3 &&
          its_group == group && state != 'Z')
        ++alive;
    } catch (const Error&) {  // it ended meanwhile
    }
  }
  return alive;
}

TEST_F(FioRunnerTest, RunsOneFioPerVmAndAddsUp) {
  FioRunnerSettings settings;
  for (int i = 0; i < 3; ++i)
    settings.files.push_back({path(fmt::format("job_{}", i)), path(fmt::format("result_{}", i))});
  const Plan plan = plan_of(3, null_job("mix", {{"size", "4m"}, {"numjobs", "2"}}));
  Plan with_clones = plan;
  for (auto& vm : with_clones.vms) vm.jobs[0].numjobs = 2;
  Recorder observer;
  const RunResult result = FioRunner(settings).run(with_clones, {}, observer);

  EXPECT_THAT(result.runner, testing::StartsWith("fio 3."));
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.stop_reason, "");
  EXPECT_TRUE(result.exact_percentiles);
  EXPECT_EQ(observer.started, 3u);
  ASSERT_EQ(result.vms.size(), 3u);
  EXPECT_EQ(result.total(Op::kRead).ios + result.total(Op::kWrite).ios, 3u * 2 * 1024);
  EXPECT_EQ(result.total(Op::kRead).bytes + result.total(Op::kWrite).bytes, 3u * 2 * (4 << 20));
  EXPECT_EQ(result.fleet_service.count(), 3u * 2 * 1024);
  EXPECT_EQ(result.fleet_response.count(), 3u * 2 * 1024);
  EXPECT_GT(result.process_cpu.user_ns + result.process_cpu.system_ns, 0);
  uint64_t in_files = 0;
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(read_file(settings.files[i].job_file), HasSubstr("[mix]\nioengine=null\n"));
    const Json document = parse_json(read_file(settings.files[i].result_file), "result");
    for (const auto& job : document["jobs"])
      in_files +=
          job["read"]["total_ios"].get<uint64_t>() + job["write"]["total_ios"].get<uint64_t>();
  }
  EXPECT_EQ(in_files, 3u * 2 * 1024);
}

TEST_F(FioRunnerTest, HowFarApartTheVmsBeganIsTold) {
  Plan plan = plan_of(2, null_job("j", {{"size", "1m"}, {"time_based", "1"}, {"runtime", "1"}}));
  plan.vms[1].jobs[0].written_options.emplace_back("startdelay", "2");
  for (VmPlan& vm : plan.vms) vm.jobs[0].runtime_ns = kNsPerSecond;
  plan.vms[1].jobs[0].startdelay_ns = 2 * kNsPerSecond;
  Recorder observer;
  const RunResult result = FioRunner({}).run(plan, {}, observer);
  const auto told =
      std::find_if(result.taints.begin(), result.taints.end(),
                   [](const Taint& taint) { return taint.code == "fio-start-spread"; });
  ASSERT_NE(told, result.taints.end());
  EXPECT_THAT(told->text, HasSubstr("the last VM began"));
  EXPECT_EQ(result.measured_ns, 0) << "they were never active together";
}

TEST_F(FioRunnerTest, AStopKeepsWhatWasMeasured) {
  JobSpec job = null_job(
      "long", {{"size", "1g"}, {"time_based", ""}, {"runtime", "600"}, {"rate_iops", "2000"}});
  job.runtime_ns = 600 * kNsPerSecond;
  std::stop_source stop;
  Recorder observer;
  int ticks_at_work = 0;
  observer.on_tick = [&](const TickSample& sample) {
    EXPECT_EQ(sample.vms_active, 2);
    EXPECT_LT(sample.fraction_done, 0.5);
    const auto fios = children_running("fio");
    if (fios.size() == 2 && std::all_of(fios.begin(), fios.end(), fio_is_at_work)) ++ticks_at_work;
    if (ticks_at_work > 2) stop.request_stop();
  };
  FioRunnerSettings settings;
  settings.files = {{path("j0"), path("r0")}, {path("j1"), path("r1")}};
  const RunResult result = FioRunner(settings).run(plan_of(2, job), stop.get_token(), observer);
  EXPECT_EQ(result.stop_reason, "interrupted");
  EXPECT_TRUE(children_running("fio").empty());
  for (const auto& vm : result.vms) {
    ASSERT_EQ(vm.jobs.size(), 1u);
    EXPECT_EQ(vm.jobs[0].failure, "");
    EXPECT_FALSE(vm.jobs[0].finished);
    ASSERT_NE(vm.jobs[0].find(Op::kRead), nullptr);
    EXPECT_EQ(vm.jobs[0].find(Op::kRead)->error_count(), 0u);
    EXPECT_GT(vm.jobs[0].measured_ns(), 0);
  }
  EXPECT_NO_THROW(parse_json(read_file(settings.files[0].result_file), "r0"));
  EXPECT_EQ(result.error, "");
}

TEST_F(FioRunnerTest, AKilledFioFailsItsVmOnly) {
  JobSpec job =
      null_job("j", {{"size", "1g"}, {"time_based", ""}, {"runtime", "3"}, {"rate_iops", "1000"}});
  job.runtime_ns = 3 * kNsPerSecond;
  Recorder observer;
  pid_t killed = 0;
  observer.on_tick = [&](const TickSample&) {
    if (killed != 0) return;
    const auto running = children_running("fio");
    ASSERT_EQ(running.size(), 2u);
    killed = running[0];
    ::kill(killed, SIGKILL);
  };
  FioRunnerSettings settings;
  settings.files = {{path("j0"), path("r0")}, {path("j1"), path("r1")}};
  const RunResult result = FioRunner(settings).run(plan_of(2, job), {}, observer);
  ASSERT_NE(killed, 0);
  int failed = 0;
  for (size_t vm = 0; vm < 2; ++vm) {
    const Json document = parse_json(read_file(settings.files[vm].result_file), "result");
    const JobResult& one = result.vms[vm].jobs[0];
    if (one.failure.empty()) {
      EXPECT_TRUE(one.finished);
      EXPECT_GT(one.find(Op::kRead)->ios, 0u);
      continue;
    }
    ++failed;
    EXPECT_THAT(one.failure, HasSubstr("signal 9"));
    EXPECT_FALSE(one.finished);
    EXPECT_TRUE(document["jobs"].empty());
    EXPECT_THAT(document["error"].get<std::string>(), HasSubstr("signal 9"));
  }
  EXPECT_EQ(failed, 1);
  EXPECT_EQ(result.error, "");
}

TEST_F(FioRunnerTest, FiosReasonsAreTold) {
  JobSpec job = null_job("bad", {{"filename", "/proc/nowhere/x"}, {"size", "1m"}});
  job.written_options[0].second = "psync";
  job.ioengine = "psync";
  Recorder observer;
  const RunResult result = FioRunner({}).run(plan_of(2, job), {}, observer);
  EXPECT_THAT(result.vms[1].jobs[0].failure, HasSubstr("exit code 1"));
  EXPECT_THAT(result.vms[1].jobs[0].failure, HasSubstr("/proc/nowhere"));
  EXPECT_THAT(result.error, HasSubstr("none of the 2 fio processes could run"));

  JobSpec unknown = null_job("odd", {{"iodeth", "3"}});
  const RunResult refused = FioRunner({}).run(plan_of(1, unknown), {}, observer);
  EXPECT_THAT(refused.error, HasSubstr("Bad option <iodeth=3>"));
}

TEST_F(FioRunnerTest, AStopBeforeTheStartRunsNothing) {
  std::stop_source stop;
  stop.request_stop();
  Recorder observer;
  const RunResult result =
      FioRunner({}).run(plan_of(2, null_job("j", {{"size", "1m"}})), stop.get_token(), observer);
  EXPECT_EQ(observer.started, 0u);
  EXPECT_THAT(result.vms[0].jobs[0].failure, HasSubstr("before its turn"));
}

TEST_F(FioRunnerTest, AFioThatIgnoresSignalsIsKilled) {
  // A stand-in with fio's answers that never ends by itself: what a fio looks like whose storage
  // hangs.
  const std::string script = path("stubborn");
  write_file_atomically(
      script,
      "#!/bin/sh\n"
      "case $1 in --version) echo fio-3.99; exit 0;; --enghelp*) exit 0;; esac\n"
      "trap '' INT TERM\necho waiting for storage >&2\nwhile :; do sleep 1; done\n",
      0755);
  FioRunnerSettings settings;
  settings.fio_path = script;
  settings.term_grace_ns = 200 * kNsPerMs;
  Plan plan = plan_of(1, null_job("j", {}));
  plan.limits.drain_grace_ns = 200 * kNsPerMs;
  std::stop_source stop;
  Recorder observer;
  pid_t group = 0;
  observer.on_tick = [&](const TickSample&) {
    if (group != 0) return;
    const auto running = children_running("stubborn");
    ASSERT_EQ(running.size(), 1u);
    group = running[0];  // a process group of its own
    EXPECT_GE(alive_in_group(group), 1);
    stop.request_stop();
  };
  const RunResult result = FioRunner(settings).run(plan, stop.get_token(), observer);
  EXPECT_EQ(result.runner, "fio 3.99");
  EXPECT_THAT(result.vms[0].jobs[0].failure, HasSubstr("signal 9"));
  EXPECT_THAT(result.vms[0].jobs[0].failure, HasSubstr("waiting for storage"));
  ASSERT_NE(group, 0);
  const int64_t limit_ns = monotonic_ns() + 30 * kNsPerSecond;
  while (alive_in_group(group) > 0 && monotonic_ns() < limit_ns)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(alive_in_group(group), 0);
}

TEST_F(FioRunnerTest, OurOwnLinkIsPassedOver) {
  fs::create_directories(path("ours"));
  fs::create_directories(path("bin"));
  fs::create_directories(path("real"));
  write_file_atomically(path("ours/cephmark"), "#!/bin/sh\n", 0755);
  fs::create_symlink("cephmark", path("ours/fio"));
  fs::create_hard_link(path("ours/cephmark"), path("bin/fio"));
  write_file_atomically(path("real/fio"), "#!/bin/sh\n", 0755);
  FioSearch search;
  search.own_program = path("ours/cephmark");
  search.path = path("bin") + ":" + path("none") + ":" + path("real");
  EXPECT_EQ(locate_fio(search), path("real/fio"));

  search.path = path("bin");
  try {
    locate_fio(search);
    FAIL() << "found one";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(path("ours/fio") + " is cephmark itself"));
    EXPECT_THAT(error.hint(), HasSubstr("--fio PATH"));
  }
  search.requested = path("bin/fio");
  EXPECT_THROW(locate_fio(search), UsageError);
  search.requested = path("nothing");
  EXPECT_THROW(locate_fio(search), UsageError);

  // One beside the program goes before those on PATH.
  fs::remove(path("ours/fio"));
  write_file_atomically(path("ours/fio"), "#!/bin/sh\n", 0755);
  search.requested.clear();
  search.path = path("real");
  EXPECT_EQ(locate_fio(search), path("ours/fio"));
}

TEST_F(FioRunnerTest, AFioWithoutTheEngineIsToldApart) {
  write_file_atomically(path("fio"),
                        "#!/bin/sh\ncase $1 in --version) echo fio-3.36;; --enghelp=rbd) echo IO "
                        "engine rbd not found; "
                        "exit 1;; esac\n",
                        0755);
  JobSpec job = null_job("j", {});
  job.ioengine = "rbd";
  Recorder observer;
  FioRunnerSettings settings;
  settings.fio_path = path("fio");
  try {
    FioRunner(settings).run(plan_of(1, job), {}, observer);
    FAIL() << "ran";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("(fio 3.36) is built without the engine 'rbd'"));
    EXPECT_THAT(error.hint(), HasSubstr("fio-engine-rbd"));
  }
  write_file_atomically(path("fio"), "#!/bin/sh\necho fio-2.1.11\n", 0755);
  EXPECT_THROW(find_fio(path("fio")), Error);
  write_file_atomically(path("fio"), "#!/bin/sh\necho hello\n", 0755);
  EXPECT_THROW(find_fio(path("fio")), Error);
  write_file_atomically(path("fio"), "#!/bin/sh\necho fio-3.42-cephmark-0.1.0\n", 0755);
  EXPECT_THROW(find_fio(path("fio")), UsageError);
}

}  // namespace
}  // namespace cephmark
