// The steps of a session stand in RunSession::carry_out, in their order.
#include "cli/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>

#include "base/cpu_affinity.h"
#include "base/error.h"
#include "base/time.h"
#include "ceph/connection.h"
#include "cli/failure.h"
#include "cli/headway.h"
#include "cli/session_images.h"
#include "cli/signals.h"
#include "fleet/allocation.h"
#include "fleet/guard.h"
#include "fleet/manifest.h"
#include "fleet/run_ledger.h"
#include "job/ceph_engines.h"
#include "output/fio_json.h"
#include "output/run_observer.h"
#include "output/vm_files.h"
#include "result/advice.h"
#include "result/environment.h"
#include "result/results_directory.h"
#include "run/cluster_watch.h"
#include "run/fio_runner.h"
#include "run/local_runner.h"

namespace cephmark {
namespace {

// Passes on what a runner tells, and takes the cluster's counters around the I/O.
class SessionObserver : public RunObserver {
 public:
  SessionObserver(Progress& progress, OutputSet& outputs) : RunObserver(progress, outputs) {}
  void io_begins() override {
    if (watch) watch->io_begins();
  }
  void io_ended() override {
    if (watch) watch->io_ended();
  }
  ClusterWatch* watch = nullptr;
};

// Connecting and opening have time limits of their own, which say more.
constexpr int64_t kMarginOfStep_ns = 2 * kNsPerSecond;
constexpr int64_t kPerImage_ns = 20'000'000;

class RunSession {
 public:
  RunSession(Plan plan, const SessionOptions& options, OutputSet& outputs)
      : options_(options),
        plan_(std::move(plan)),
        affinity_(plan_.limits.max_cpus),
        progress_(std::cerr, progress_options(STDERR_FILENO, options.quiet)),
        outputs_(outputs),
        observer_(progress_, outputs_),
        images_(plan_, options_, progress_, headway_) {}

  SessionEnd run() {
    const SignalWatcher signals(stop_);
    run_id_ = make_run_id(plan_.title);
    SessionEnd end;
    try {
      end.exit_code = carry_out();
      end.must_exit_hard = result_.must_exit_hard;
    } catch (...) {
      end.exit_code = fail(std::current_exception());
      // Set-up that was given up may have left a library's thread at work, which static
      // destructors must not meet.
      end.must_exit_hard = cluster_ || headway_.left_behind() || result_.must_exit_hard;
    }
    if (result_.must_exit_hard && manifest_) manifest_->keep_for_watchers();
    end.measured = told_;
    end.result = std::move(result_);
    if (end.must_exit_hard && !headway_.left_behind()) {
      files_.reset();
      ledger_.reset();
      manifest_.reset();
    }
    return end;
  }

 private:
  int carry_out() {
    if (const JobSpec* job = first_ceph_job(plan_))
      patiently("connecting to the cluster", [this, job] { connect(*job); });
    const bool make_images = options_.images.makes_images();
    if (!make_images) patiently("looking at the targets" + whose(), [this] { guard(); });
    patiently("looking at the images" + whose(), [&] { images_.show_targets(guard_); });
    if (options_.plan_only) return 0;
    manifest_ = Manifest::create(run_id_, plan_.ceph, cluster_ ? cluster_->fsid() : "");
    ledger_ = std::make_unique<RunLedger>(*manifest_);
    images_.use(manifest_.get());
    try {
      if (cluster_) manifest_->add_instance(cluster_->instance_id());
      if (make_images)
        timed(PhaseKind::kCreate, [&] {
          patiently("making the images", [this] { images_.create(stop_.get_token()); });
        });
      if (options_.images.prefill && !stop_.stop_requested()) {
        timed(PhaseKind::kPrefill,
              [&] { patiently("prefilling", [this] { images_.prefill(stop_.get_token()); }); });
        for (ImageState& image : guard_.images) image.allocated_bytes.reset();  // of before
      }
      if (make_images) patiently("looking at the images", [this] { guard(); });
      patiently("tagging images", [this] { adopt_images(guard_, manifest_->identity()); });
      if (stop_.stop_requested())
        throw Error(
            fmt::format("{} before the load began: nothing was measured", SignalWatcher::reason()),
            "", ExitCode::kInterrupted);
      measure();
    } catch (...) {
      const auto failure = std::current_exception();
      settle(KeepFiles::kNone);
      try {
        remove_images();
      } catch (...) {
        report(std::current_exception());
      }
      std::rethrow_exception(failure);
    }
    return tell();
  }

  // " (rbd/vm-0 and those of 3 more VMs)"; empty where no job uses the cluster.
  std::string whose() const {
    const JobSpec* job = first_ceph_job(plan_);
    if (!job) return "";
    const std::string image = job->engine_option("rbdname"),
                      pool = job->engine_option("pool", "rbd");
    const std::string first = image.empty()                          ? "pool " + pool
                              : image.find('/') != std::string::npos ? image
                                                                     : pool + "/" + image;
    const size_t more = plan_.vms.size() - 1;
    return more == 0
               ? fmt::format(" ({})", first)
               : fmt::format(" ({} and those of {} more VM{})", first, more, more == 1 ? "" : "s");
  }

  // A step that the cluster may never let end. After a signal it has the grace to take back what it
  // began.
  void patiently(const std::string& what, const std::function<void()>& step) {
    HeadwayLimits limits;
    // Without a cluster there is nobody to wait for: files take as long as they take.
    limits.silence_ns = first_ceph_job(plan_)
                            ? plan_.limits.open_timeout_ns + kMarginOfStep_ns +
                                  static_cast<int64_t>(plan_.vms.size()) * kPerImage_ns
                            : 0;
    limits.after_stop_ns = manifest_ ? plan_.limits.drain_grace_ns : kNsPerSecond / 2;
    headway_.run(what, step, limits, stop_.get_token());
  }

  // Told in wall time until the instant is known that the result is relative to.
  void timed(PhaseKind kind, const std::function<void()>& step) {
    const int64_t start_ns = wall_ns();
    step();
    set_up_phases_.push_back({kind, 0, start_ns, wall_ns()});
  }
  void add_set_up_phases() {
    for (PhaseSpan& phase : set_up_phases_) {
      phase.start_ns -= result_.start_wall_ns;
      phase.end_ns -= result_.start_wall_ns;
    }
    result_.phases.insert(result_.phases.begin(), set_up_phases_.begin(), set_up_phases_.end());
    set_up_phases_.clear();
  }

  // The documents that were asked for say what happened, too.
  int fail(const std::exception_ptr& failure) {
    if (!headway_.left_behind()) progress_.finish();
    const int code = SignalWatcher::received() ? SignalWatcher::exit_code() : code_of(failure);
    if (!told_ && !options_.plan_only) {
      result_.plan = plan_;
      try {
        write_failure(outputs_, result_, run_id_, text_of(failure));
      } catch (...) {
        report(std::current_exception());
      }
    }
    report(failure);
    return code;
  }

  void connect(const JobSpec& job) {
    progress_.progress("connecting to the cluster", 0, 0);
    cluster_ = Cluster::connect(ceph_target_of(plan_, job), plan_.limits.open_timeout_ns);
    images_.use(cluster_);
  }

  void guard() {
    GuardContext context;
    context.cluster = cluster_;
    context.run_id = run_id_;
    context.fio_names_objects = options_.runner == "fio";
    context.file_is_ours = [files = files_of_dead_runs()](const std::string& path) {
      return files.count(path) > 0;
    };
    if (cluster_) context.own_instances = {cluster_->instance_id()};
    context.note = [this](const std::string& text) {
      headway_.sign_of_life(kDeadWatcherWait_ns);
      if (!headway_.left_behind()) progress_.note(text);
    };
    context.progress = [this](size_t done, size_t total) {
      headway_.sign_of_life();
      if (!headway_.left_behind()) progress_.progress("looking at the images", done, total);
    };
    guard_ = guard_targets(plan_, context);
  }

  void measure() {
    if (!options_.results_directory.empty()) VmFiles::require_place(options_.results_directory);
    outputs_.begin(plan_);
    std::unique_ptr<ClusterWatch> watch;
    if (cluster_)
      watch = std::make_unique<ClusterWatch>(cluster_, plan_.guard, stop_, pools_in_use());
    progress_.progress("looking at what is written", 0, 0);
    const auto allocations = read_allocations(plan_, cluster_, guard_.images);
    observer_.watch = watch.get();
    if (options_.runner == "fio")
      measure_with_fio();
    else
      measure_natively();
    observer_.watch = nullptr;
    result_.id = run_id_;
    add_set_up_phases();
    result_.environment.host = host_facts();
    add_allocations(allocations, result_);
    for (const Taint& taint : guard_.taints) result_.taints.push_back(taint);
    if (watch) {
      const std::string verdict = watch->finish(result_);
      if (options_.runner == "fio") forget_counters_of_warm_ups();
      if (!verdict.empty()) {
        result_.stop_reason = "guard: " + verdict;
        std::erase_if(result_.taints,
                      [](const Taint& taint) { return taint.code == "interrupted"; });
      }
    }
    if (SignalWatcher::received()) result_.stop_reason = SignalWatcher::reason();
    add_advice(result_);
  }

  // The OSDs counted all of it, and fio tells what came after its warm-up only.
  void forget_counters_of_warm_ups() {
    for (const auto& vm : plan_.vms)
      for (const auto& job : vm.jobs)
        if (job.ramp_time_ns > 0) {
          result_.witness.available = false;
          result_.witness.unavailable_reason =
              "fio does not tell what it moved while it warmed up (ramp_time)";
        }
  }

  // Those of the jobs, and where their images' data go.
  std::vector<std::string> pools_in_use() const {
    std::vector<std::string> pools = planned_pools(plan_);
    for (const ImageState& image : guard_.images)
      if (!image.data_pool.empty() &&
          std::find(pools.begin(), pools.end(), image.data_pool) == pools.end())
        pools.push_back(image.data_pool);
    return pools;
  }

  void measure_natively() {
    LocalRunnerOptions runner;
    runner.run_id = run_id_;
    runner.file_guard = ledger_->file_guard(make_file_guard(
        plan_,
        [files = files_of_dead_runs()](const std::string& path) { return files.count(path) > 0; }));
    runner.on_connected = [this](uint64_t instance) { ledger_->add_instance(instance); };
    runner.about_to_create_objects = [this](const std::vector<std::string>& names) {
      ledger_->announce_objects(names);
    };
    result_ = LocalRunner(runner).run(plan_, stop_.get_token(), observer_);
  }

  void measure_with_fio() {
    FioRunnerSettings settings;
    settings.fio_path = options_.fio_path;
    if (!options_.results_directory.empty()) {
      files_ = make_files();
      for (size_t vm = 0; vm < plan_.vms.size(); ++vm)
        settings.files.push_back({files_->job_file(vm), files_->result_file(vm)});
    }
    result_ = FioRunner(settings).run(plan_, stop_.get_token(), observer_);
    images_.add_facts(guard_.images, result_);
  }

  std::unique_ptr<VmFiles> make_files() {
    return std::make_unique<VmFiles>(
        VmFiles::create(plan_, options_.host, options_.results_directory));
  }

  // Everything after the load: the result first, then its copies, then clean-up. A step that fails
  // does not keep the next from being done; the first failure is thrown at the end.
  int tell() {
    told_ = true;
    progress_.finish();
    std::exception_ptr failure;
    const auto attempt = [&](auto&& step) {
      try {
        step();
      } catch (...) {
        if (!failure) failure = std::current_exception();
      }
    };
    attempt([&] { outputs_.end(result_); });
    for (const std::string& file : outputs_.written_files()) progress_.note("written: " + file);
    if (options_.keep) attempt([&] { keep(); });
    if (!options_.results_directory.empty())
      attempt([&] {
        if (options_.runner == "native") write_files();
        progress_.note("job and result files per VM: " + files_->path());
      });
    attempt([&] { remove_objects(); });
    settle(options_.keep_files ? KeepFiles::kAll : KeepFiles::kNamed);
    attempt([&] { remove_images(); });
    progress_.finish();
    if (failure) std::rethrow_exception(failure);
    return exit_code();
  }

  void write_files() {
    files_ = make_files();
    files_->write(plan_, [this](size_t vm) {
      return fio_json_text(result_, {.bins = true, .vm = static_cast<int>(vm)});
    });
  }

  void keep() {
    const std::string path = ResultsDirectory().save(result_);
    progress_.note(fmt::format("result kept as {} (cephmark results show {})", path, result_.id));
  }

  // As long as it gets on; a second signal ends it, and leaves the rest to the manifest.
  void remove_objects() {
    if (!options_.remove_objects || !cluster_ || result_.must_exit_hard || headway_.left_behind())
      return;
    HeadwayLimits limits;
    limits.silence_ns = plan_.limits.open_timeout_ns + kMarginOfStep_ns;
    auto gone = std::make_shared<std::vector<std::string>>();
    headway_.run("removing objects",
                 [this, gone] {
                   *gone = options_.remove_objects(cluster_, result_,
                                                   [this] { headway_.sign_of_life(); });
                 },
                 limits, {});
    for (const std::string& target : *gone) ledger_->forget_objects(target);
  }

  void settle(KeepFiles keep) {
    const auto cluster = result_.must_exit_hard || headway_.left_behind() ? nullptr : cluster_;
    const auto troubles = ledger_->settle(cluster, keep);
    for (const std::string& trouble : troubles) progress_.note(trouble);
    if (!troubles.empty())
      progress_.note(fmt::format("`cephmark cleanup {}` removes what is left", run_id_));
  }

  void remove_images() {
    const CreateReport made = images_.take_removable();
    if (made.created.empty()) return;
    std::exception_ptr failure;
    if (!result_.must_exit_hard && !headway_.left_behind()) {
      try {
        patiently("removing images", [this, specs = made.created] { images_.remove(specs); });
        for (int id : made.manifest_ids) manifest_->strike_out(id);
        return;
      } catch (...) {
        failure = std::current_exception();
      }
    }
    std::cerr << fmt::format(
        "{} image{} left: `cephmark cleanup {}` removes what is left when the cluster answers\n",
        made.created.size(), made.created.size() == 1 ? " is" : "s are", run_id_);
    if (failure) std::rethrow_exception(failure);
  }

  int exit_code() const {
    if (const int code = SignalWatcher::exit_code()) return code;
    if (result_.stop_reason.rfind("guard", 0) == 0) return static_cast<int>(ExitCode::kEnvironment);
    if (!result_.error.empty()) return static_cast<int>(ExitCode::kEnvironment);
    bool failed = result_.must_exit_hard;
    for (const VmResult& vm : result_.vms)
      for (const JobResult& job : vm.jobs) failed |= job.failed();
    return static_cast<int>(failed ? ExitCode::kIoErrors : ExitCode::kOk);
  }

  const SessionOptions options_;
  const Plan plan_;
  const CpuAffinity affinity_;  ///< before any thread is started: --max-cpus is about all of them
  std::stop_source stop_;
  Progress progress_;
  OutputSet& outputs_;
  SessionObserver observer_;
  Headway headway_;
  SessionImages images_;
  std::string run_id_;
  std::shared_ptr<Cluster> cluster_;
  std::unique_ptr<Manifest> manifest_;
  std::unique_ptr<RunLedger> ledger_;
  GuardReport guard_;
  std::unique_ptr<VmFiles> files_;
  RunResult result_;
  std::vector<PhaseSpan> set_up_phases_;
  bool told_ = false;  ///< the outputs have had the result
};

}  // namespace

SessionEnd run_session(Plan plan, const SessionOptions& options, OutputSet& outputs) {
  auto session = std::make_unique<RunSession>(std::move(plan), options, outputs);
  SessionEnd end = session->run();
  // Threads that were left behind may use what the session owns until the process ends.
  if (end.must_exit_hard) static_cast<void>(session.release());
  return end;
}

int leave_process(const SessionEnd& end, int exit_code) {
  if (!end.must_exit_hard) return exit_code;
  std::cout.flush();
  std::cerr.flush();
  std::fflush(nullptr);
  ::_exit(exit_code);
}

}  // namespace cephmark
