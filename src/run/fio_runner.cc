#include "run/fio_runner.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/child_process.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/time.h"
#include "job/job_text.h"
#include "result/environment.h"
#include "run/fio_ceph_conf.h"
#include "run/fio_collect.h"
#include "run/fio_program.h"

namespace cephmark {
namespace {

constexpr int64_t kLookEvery_ns = 100 * kNsPerMs;  // how soon a stop request is seen
// Between two starts: a hundred processes that start at the same instant only fight for the CPUs.
constexpr int64_t kBetweenStarts_ns = 5 * kNsPerMs;

// A directory of our own for the run, removed with what is in it.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::error_code error;
    auto base = std::filesystem::temp_directory_path(error);
    if (error) base = "/tmp";
    path_ = (base / "cephmark-fio-XXXXXX").string();
    if (!::mkdtemp(path_.data()))
      throw Error(
          fmt::format("cannot create a directory in {}: {}", base.string(), errno_text(errno)),
          "name another place with TMPDIR");
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string& name, size_t vm) const {
    return fmt::format("{}/{}_{}", path_, name, vm);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string content_or_nothing(const std::string& path) {
  return ::access(path.c_str(), R_OK) == 0 ? read_file(path) : "";
}

// The processes of one run.
class Fleet {
 public:
  Fleet(const Plan& plan, const FioProgram& fio, const FioRunnerSettings& settings,
        Observer& observer)
      : plan_(plan), fio_(fio), settings_(settings), observer_(observer) {}

  void write_job_files();
  void start(const std::stop_token& stop);
  void watch(const std::stop_token& stop);
  std::vector<FioEnd> ends();

 private:
  std::string job_file(size_t vm) const {
    return settings_.files.empty()
               ? scratch_.file("job", vm)
               : std::filesystem::absolute(settings_.files[vm].job_file).string();
  }
  int alive();
  void tick();
  void end_stopped();

  const Plan& plan_;
  const FioProgram& fio_;
  const FioRunnerSettings& settings_;
  Observer& observer_;
  ScratchDirectory scratch_;            // outlives the children, which are destroyed first
  std::vector<ChildProcess> children_;  // by VM; fewer than VMs when stopped while starting
  std::vector<bool> asked_;             // to stop
  int64_t started_ns_ = 0, ticked_ns_ = 0;
  int64_t stop_asked_ns_ = 0, next_step_ns_ = 0;
  int steps_ = 0;  // SIGINT, SIGTERM, SIGKILL sent
};

void Fleet::write_job_files() {
  for (size_t vm = 0; vm < plan_.vms.size(); ++vm)
    write_file_atomically(job_file(vm), job_file_text(plan_.vms[vm]));
}

void Fleet::start(const std::stop_token& stop) {
  const auto environment = prepare_fio_ceph(plan_, scratch_.path());
  children_.reserve(plan_.vms.size());
  for (size_t vm = 0; vm < plan_.vms.size() && !stop.stop_requested(); ++vm) {
    ChildOptions options;
    options.environment = environment;
    options.out_path = scratch_.file("out", vm);
    options.err_path = scratch_.file("err", vm);
    options.max_cpus = plan_.limits.max_cpus;
    // Options before a job file are defaults that the file may override. Histograms of all three
    // latencies are asked for; jobs are threads, so that the end of the process is the end of them
    // all.
    children_.push_back(ChildProcess::start(
        {fio_.path, "--thread", "--lat_percentiles=1", "--slat_percentiles=1", "--eta=never",
         "--output-format=json+", "--output=" + scratch_.file("output", vm), job_file(vm)},
        options));
    observer_.progress("starting fio", vm + 1, plan_.vms.size());
    if (vm + 1 < plan_.vms.size()) ::usleep(kBetweenStarts_ns / kNsPerUs);
  }
  asked_.assign(children_.size(), false);
  started_ns_ = ticked_ns_ = monotonic_ns();
}

int Fleet::alive() {
  return static_cast<int>(std::count_if(children_.begin(), children_.end(),
                                        [](auto& child) { return child.running(); }));
}

void Fleet::tick() {
  const int64_t now_ns = monotonic_ns();
  if (now_ns - ticked_ns_ < kNsPerSecond) return;
  TickSample sample;
  sample.at_ns = now_ns - started_ns_;
  sample.interval_ns = now_ns - ticked_ns_;
  sample.vms_active = alive();
  // fio tells nothing while it runs: where we are is reckoned from the clock.
  int64_t stage_start_ns = 0, whole_ns = 0;
  bool known = true;
  for (int stage = 0; stage < plan_.stage_count(); ++stage) {
    int64_t length_ns = 0, ramp_ns = 0;
    for (const auto& vm : plan_.vms) {
      length_ns = std::max(length_ns, fio_stage_length_ns(vm, stage));
      for (const auto& job : vm.jobs)
        if (job.stage == stage) ramp_ns = std::max(ramp_ns, job.startdelay_ns + job.ramp_time_ns);
    }
    known = known && length_ns > 0;
    whole_ns += length_ns;
    if (!known || sample.at_ns < stage_start_ns) continue;
    sample.stage = stage;
    sample.phase =
        sample.at_ns - stage_start_ns < ramp_ns ? PhaseKind::kWarmup : PhaseKind::kMeasure;
    const int64_t end_ns =
        stage_start_ns + (sample.phase == PhaseKind::kWarmup ? ramp_ns : length_ns);
    sample.phase_left_ns = std::max<int64_t>(0, end_ns - sample.at_ns);
    stage_start_ns += length_ns;
  }
  if (stop_asked_ns_ > 0) sample.phase = PhaseKind::kDrain;
  if (known && whole_ns > 0)
    sample.fraction_done =
        std::min(1.0, static_cast<double>(sample.at_ns) / static_cast<double>(whole_ns));
  else
    sample.phase_left_ns = -1;
  ticked_ns_ = now_ns;
  observer_.tick(sample);
}

// One step further: fio reports what it has on SIGINT; one that hangs in its storage does not hear
// it.
void Fleet::end_stopped() {
  const int64_t now_ns = monotonic_ns();
  if (steps_ > 0 && now_ns < next_step_ns_) return;
  const int number = steps_ == 0 ? SIGINT : steps_ == 1 ? SIGTERM : SIGKILL;
  for (size_t vm = 0; vm < children_.size(); ++vm) {
    if (!children_[vm].running()) continue;
    asked_[vm] = true;
    if (number == SIGKILL)
      children_[vm].signal_group(number);
    else
      children_[vm].signal(number);
  }
  if (steps_ == 0) stop_asked_ns_ = now_ns;
  if (steps_ > 0)
    observer_.note(fmt::format("{} fio processes do not end: {}", alive(),
                               number == SIGKILL ? "killed" : "SIGTERM sent"));
  next_step_ns_ = now_ns + (steps_ == 0 ? plan_.limits.drain_grace_ns : settings_.term_grace_ns);
  ++steps_;
}

void Fleet::watch(const std::stop_token& stop) {
  std::vector<ChildProcess*> all;
  for (auto& child : children_) all.push_back(&child);
  while (alive() > 0) {
    ChildProcess::wait_any(all, monotonic_ns() + kLookEvery_ns);
    tick();
    if (stop.stop_requested()) end_stopped();
  }
}

std::vector<FioEnd> Fleet::ends() {
  std::vector<FioEnd> all(plan_.vms.size());
  const int64_t wall_minus_monotonic_ns = wall_ns() - monotonic_ns();
  for (size_t vm = 0; vm < all.size(); ++vm) {
    FioEnd& end = all[vm];
    if (vm >= children_.size()) {
      end.started = false;
      end.stopped = true;
      continue;
    }
    const ChildProcess& child = children_[vm];
    end.output = content_or_nothing(scratch_.file("output", vm));
    end.errors = content_or_nothing(scratch_.file("err", vm));
    end.exit_code = child.exit_code();
    end.signal_number = child.signal_number();
    end.stopped = asked_[vm];
    end.usage = child.usage();
    end.ended_wall_ns = child.ended_ns() + wall_minus_monotonic_ns;
  }
  return all;
}

int allowed_cpus(int max_cpus) {
  const int ours = allowed_cpu_count();
  return max_cpus > 0 ? std::min(max_cpus, ours) : ours;
}

}  // namespace

RunResult FioRunner::run(const Plan& plan, std::stop_token stop, Observer& observer) {
  if (!settings_.files.empty() && settings_.files.size() != plan.vms.size())
    throw Error(fmt::format("--runner fio: files for {} VMs, but the plan has {}",
                            settings_.files.size(), plan.vms.size()));
  const FioProgram fio = find_fio(settings_.fio_path);
  require_fio_engines(fio, plan);
  check_fio_ceph_jobs(plan);
  observer.note(
      fmt::format("running {} processes of {} ({})", plan.vms.size(), fio.version, fio.path));

  Fleet fleet(plan, fio, settings_, observer);
  fleet.write_job_files();
  const int64_t start_wall_ns = wall_ns();
  observer.io_begins();
  fleet.start(stop);
  fleet.watch(stop);
  observer.io_ended();

  FioCollection collection = collect_fio(plan, fio.version, fleet.ends());
  RunResult& result = collection.result;
  if (result.start_wall_ns == 0) {  // nothing was measured
    result.start_wall_ns = start_wall_ns;
    result.end_wall_ns = wall_ns();
  }
  result.allowed_cpus = allowed_cpus(plan.limits.max_cpus);
  if (stop.stop_requested()) {
    result.stop_reason = "interrupted";
    result.taints.push_back(
        {"interrupted", "the run was stopped before its end: what was measured until then stands"});
  }
  if (!settings_.files.empty()) keep_documents(collection, observer);
  return std::move(result);
}

// What was measured is not thrown away because a disk is full.
void FioRunner::keep_documents(FioCollection& collection, Observer& observer) const {
  for (size_t vm = 0; vm < settings_.files.size(); ++vm) {
    try {
      const std::string text =
          collection.documents[vm].dump(2, ' ', false, Json::error_handler_t::replace);
      write_file_atomically(settings_.files[vm].result_file, text + "\n");
    } catch (const Error& error) {
      observer.note(error.what());
      collection.result.taints.push_back({"files-not-kept", error.what()});
      return;
    }
  }
}

}  // namespace cephmark
