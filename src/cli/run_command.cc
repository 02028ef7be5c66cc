// cephmark run: from a job file to a report. The steps stand in RunSession::run, in their order.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <memory>

#include "base/error.h"
#include "base/time.h"
#include "ceph/connection.h"
#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/headway.h"
#include "cli/run_options.h"
#include "cli/signals.h"
#include "engine/engine_table.h"
#include "fleet/allocation.h"
#include "fleet/guard.h"
#include "fleet/manifest.h"
#include "fleet/run_ledger.h"
#include "fleet/target_preview.h"
#include "fleet/volumes.h"
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

bool needs_ceph(const Plan& plan) {
  for (const VmPlan& vm : plan.vms)
    for (const JobSpec& job : vm.jobs)
      if (const EngineRow* row = find_engine(job.ioengine); row && row->needs_ceph) return true;
  return false;
}

// Connecting and opening have time limits of their own, which say more.
constexpr int64_t kMarginOfStep_ns = 2 * kNsPerSecond;
constexpr int64_t kPerImage_ns = 20'000'000;

class RunSession {
 public:
  RunSession(const RunOptions& options, Plan plan)
      : options_(options),
        plan_(std::move(plan)),
        progress_(std::cerr, progress_options(STDERR_FILENO, options.quiet)),
        outputs_(options.outputs, writer_options()),
        observer_(progress_, outputs_) {}

  int run() {
    const SignalWatcher signals(stop_);
    run_id_ = make_run_id(plan_.title);
    try {
      return carry_out();
    } catch (...) {
      return fail(std::current_exception());
    }
  }

 private:
  int carry_out() {
    if (needs_ceph(plan_)) patiently("connecting to the cluster", [this] { connect(); });
    const bool make_images = options_.create_bytes > 0 || !options_.clone_from.empty();
    if (!make_images) patiently("looking at the targets", [this] { guard(); });
    patiently("looking at the images", [&] { show_targets(make_images); });
    if (options_.plan_only) return 0;
    manifest_ = Manifest::create(run_id_, plan_.ceph, cluster_ ? cluster_->fsid() : "");
    ledger_ = std::make_unique<RunLedger>(*manifest_);
    try {
      if (cluster_) manifest_->add_instance(cluster_->instance_id());
      if (make_images) patiently("making the images", [this] { create_images(); });
      if (options_.prefill && !stop_.stop_requested())
        patiently("prefilling", [this] { prefill(); });
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

  // A step that the cluster may never let end. After a signal it has the grace to take back what it
  // began.
  void patiently(const std::string& what, const std::function<void()>& step) {
    HeadwayLimits limits;
    limits.silence_ns = plan_.limits.open_timeout_ns + kMarginOfStep_ns +
                        static_cast<int64_t>(plan_.vms.size()) * kPerImage_ns;
    limits.after_stop_ns = manifest_ ? plan_.limits.drain_grace_ns : kNsPerSecond / 2;
    headway_.run(what, step, limits, stop_.get_token());
  }

  // The documents that were asked for say what happened, too. Set-up that was given up may have
  // left a library's thread at work, which static destructors must not meet.
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
    if (!cluster_ && !headway_.left_behind()) return code;
    files_.reset();
    if (!headway_.left_behind()) {
      ledger_.reset();
      manifest_.reset();
    }
    std::cout.flush();
    std::cerr.flush();
    ::_exit(code);
  }

  static WriterOptions writer_options() {
    return {.colour = ::isatty(STDOUT_FILENO) == 1, .columns = 100};
  }

  void connect() {
    progress_.progress("connecting to the cluster", 0, 0);
    CephTarget target = plan_.ceph;
    for (const VmPlan& vm : plan_.vms)
      for (const JobSpec& job : vm.jobs)
        if (is_ceph_engine(job.ioengine)) {
          cluster_ = Cluster::connect(ceph_target_of(plan_, job), plan_.limits.open_timeout_ns);
          return;
        }
  }

  void guard() {
    GuardContext context;
    context.cluster = cluster_;
    context.run_id = run_id_;
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

  std::vector<ImageSpec> images() const {
    std::vector<ImageSpec> specs;
    for (const PlannedTarget& target : planned_targets(plan_))
      if (target.kind == PlannedTarget::Kind::kImage)
        specs.push_back(parse_image_spec(target.text));
    return specs;
  }

  void show_targets(bool make_images) {
    if (!cluster_ && !options_.plan_only) return;
    // The guard has looked already, unless the images are still to be made.
    if (cluster_ && make_images)
      guard_.images = examine_images(cluster_, images(), watcher_knowledge(cluster_->fsid()));
    const TargetPreview preview = make_target_preview(
        plan_, cluster_, guard_.images, make_images ? options_.create_bytes : 0, options_.prefill);
    progress_.finish();
    const std::string text = preview_text(preview, options_.plan_only ? SIZE_MAX : 8);
    if (options_.plan_only)
      std::cout << text << "nothing was done (--plan)\n";
    else if (!options_.quiet)
      std::cerr << text;
  }

  VolumeContext volumes() {
    VolumeContext context;
    context.cluster = cluster_;
    context.manifest = manifest_.get();
    context.allow_write = options_.grants.allow_write;
    context.progress = [this](const std::string& what, uint64_t done, uint64_t total) {
      if (!headway_.left_behind()) progress_.progress(what, done, total);
    };
    context.alive = [this](int64_t wait_ns) { headway_.sign_of_life(wait_ns); };
    return context;
  }

  void create_images() {
    if (!cluster_)
      throw UsageError("--create makes RBD images, and no job of this file uses the rbd engine");
    ImageShape shape;
    shape.size_bytes = options_.create_bytes;
    shape.object_size_bytes = options_.object_size_bytes;
    shape.data_pool = options_.data_pool;
    shape.features = options_.features;
    if (!options_.clone_from.empty()) shape.clone_from = parse_image_spec(options_.clone_from);
    VolumeContext context = volumes();
    context.stop = stop_.get_token();
    made_ = create_volumes(context, images(), shape, !options_.remove);
  }

  void prefill() {
    VolumeContext context = volumes();
    context.stop = stop_.get_token();
    prefill_volumes(context, images());
  }

  void measure() {
    outputs_.begin(plan_);
    std::unique_ptr<ClusterWatch> watch;
    if (cluster_)
      watch = std::make_unique<ClusterWatch>(cluster_, plan_.guard, stop_, planned_pools(plan_));
    progress_.progress("looking at what is written", 0, 0);
    const auto allocations = read_allocations(plan_, cluster_, guard_.images);
    observer_.watch = watch.get();
    if (options_.runner == "fio")
      measure_with_fio();
    else
      measure_natively();
    observer_.watch = nullptr;
    result_.id = run_id_;
    result_.environment.host = host_facts();
    add_allocations(allocations, result_);
    for (const Taint& taint : guard_.taints) result_.taints.push_back(taint);
    if (watch) {
      const std::string verdict = watch->finish(result_);
      if (!verdict.empty()) {
        result_.stop_reason = "guard: " + verdict;
        std::erase_if(result_.taints,
                      [](const Taint& taint) { return taint.code == "interrupted"; });
      }
    }
    if (SignalWatcher::received()) result_.stop_reason = SignalWatcher::reason();
    add_advice(result_);
  }

  void measure_natively() {
    LocalRunnerOptions runner;
    runner.file_guard = ledger_->file_guard(make_file_guard(
        plan_,
        [files = files_of_dead_runs()](const std::string& path) { return files.count(path) > 0; }));
    runner.on_connected = [this](uint64_t instance) { ledger_->add_instance(instance); };
    runner.about_to_create_objects = [this](const std::vector<std::string>& names) {
      ledger_->announce_objects(names);
    };
    result_ = LocalRunner(runner).run(plan_, stop_.get_token(), observer_);
    if (!options_.results_directory.empty()) files_ = make_files();
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
    if (files_) {
      if (options_.runner == "native")
        attempt([&] {
          files_->write(plan_, [this](size_t vm) {
            return fio_json_text(result_, {.bins = true, .vm = static_cast<int>(vm)});
          });
        });
      progress_.note("job and result files per VM: " + files_->path());
    }
    settle(options_.keep_files ? KeepFiles::kAll : KeepFiles::kNamed);
    attempt([&] { remove_images(); });
    progress_.finish();
    if (failure) std::rethrow_exception(failure);
    if (!result_.must_exit_hard) return exit_code();
    // Requests are still out in a library: no destructor may run any more.
    std::cout.flush();
    std::cerr.flush();
    files_.reset();
    ledger_.reset();
    manifest_.reset();
    ::_exit(exit_code());
  }

  void keep() {
    const std::string path = ResultsDirectory().save(result_);
    progress_.note(fmt::format("result kept as {} (cephmark results show {})", path, result_.id));
  }

  void settle(KeepFiles keep) {
    const auto cluster = result_.must_exit_hard || headway_.left_behind() ? nullptr : cluster_;
    const auto troubles = ledger_->settle(cluster, keep);
    for (const std::string& trouble : troubles) progress_.note(trouble);
    if (!troubles.empty())
      progress_.note(fmt::format("`cephmark cleanup {}` removes what is left", run_id_));
  }

  void remove_images() {
    if (!options_.remove || made_.created.empty()) return;
    const std::vector<ImageSpec> images = std::exchange(made_.created, {});
    std::exception_ptr failure;
    if (!result_.must_exit_hard && !headway_.left_behind()) {
      try {
        patiently("removing images", [this, images] { remove_volumes(volumes(), images); });
        for (int id : made_.manifest_ids) manifest_->strike_out(id);
        return;
      } catch (...) {
        failure = std::current_exception();
      }
    }
    std::cerr << fmt::format(
        "{} image{} left: `cephmark cleanup {}` removes what is left when the cluster answers\n",
        images.size(), images.size() == 1 ? " is" : "s are", run_id_);
    if (failure) std::rethrow_exception(failure);
  }

  int exit_code() const {
    if (const int code = SignalWatcher::exit_code()) return code;
    if (result_.stop_reason.rfind("guard", 0) == 0) return static_cast<int>(ExitCode::kEnvironment);
    if (!result_.error.empty()) return static_cast<int>(ExitCode::kEnvironment);
    bool failed = result_.error_count() > 0 || result_.must_exit_hard;
    for (const VmResult& vm : result_.vms)
      for (const JobResult& job : vm.jobs) failed |= !job.failure.empty() || job.abandoned > 0;
    return static_cast<int>(failed ? ExitCode::kIoErrors : ExitCode::kOk);
  }

  const RunOptions& options_;
  Plan plan_;
  std::stop_source stop_;
  Progress progress_;
  OutputSet outputs_;
  SessionObserver observer_;
  std::string run_id_;
  std::shared_ptr<Cluster> cluster_;
  std::unique_ptr<Manifest> manifest_;
  std::unique_ptr<RunLedger> ledger_;
  GuardReport guard_;
  CreateReport made_;
  std::unique_ptr<VmFiles> files_;
  RunResult result_;
  Headway headway_;
  bool told_ = false;  ///< the outputs have had the result
};

}  // namespace

int run_run_command(const std::vector<std::string>& argv) {
  const auto options = parse_run_options(argv);
  if (!options) return 0;
  Diagnostics diagnostics;
  Plan plan;
  try {
    plan = make_run_plan(*options, argv, diagnostics);
  } catch (const Error& error) {
    if (options->outputs.empty() || options->plan_only) throw;
    OutputSet outputs(options->outputs);
    RunResult result;
    result.plan.command = "run";
    result.plan.arguments = argv;
    write_failure(outputs, result, make_run_id(""), error.what());
    throw;
  }
  if (!options->quiet && diagnostics.has_warnings())
    std::cerr << diagnostics.render(Severity::kWarning);
  return RunSession(*options, std::move(plan)).run();
}

}  // namespace cephmark
