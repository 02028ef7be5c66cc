// cephmark rados bench: what is in the pool is looked at, then a plan of one job runs, then its
// objects go, unless they are to stay.
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iostream>

#include "base/rng.h"
#include "base/time.h"
#include "base/units.h"
#include "ceph/object_name.h"
#include "cli/rados_front.h"
#include "cli/rados_target.h"
#include "cli/session.h"
#include "compat/rados_plan.h"
#include "fleet/bench_objects.h"
#include "output/progress.h"

namespace cephmark {
namespace {

constexpr int kFirstSignal = 128;

class RadosBench {
 public:
  RadosBench(const RadosArguments& arguments, bool compat)
      : arguments_(arguments), compat_(compat) {}

  int run(const std::vector<std::string>& argv) {
    std::ofstream file;
    if (!arguments_.output_file.empty()) {
      file.open(arguments_.output_file, std::ios::trunc);
      if (!file)
        throw Error(fmt::format("cannot write {}: {}", arguments_.output_file, errno_text(errno)));
    }
    std::ostream& out = arguments_.output_file.empty() ? std::cout : file;
    find_target(out);
    for (const std::string& note : target_.notes) tell(note);

    Plan plan = make_rados_bench_plan(arguments_, target_.run, argv);
    plan.seed = fresh_seed();
    SessionOptions session;
    // The table on stdout is the progress.
    session.quiet = plain() || compat_;
    if (writes() && arguments_.cleanup)
      session.remove_objects = [this, &out](const auto& cluster, const RunResult& result,
                                            const auto& alive) {
        return remove_objects(*cluster, result, alive, out);
      };
    OutputSet outputs(
        make_rados_bench_report(out, rados_bench_report_options(arguments_, target_.run)));
    const SessionEnd end = run_session(std::move(plan), session, outputs);
    tell_end(end, out);
    if (!out.flush()) throw Error("the report could not be written whole");
    return leave_process(end, exit_code_of(end));
  }

 private:
  bool plain() const { return arguments_.format == RadosBenchFormat::kPlain; }
  bool writes() const { return arguments_.mode == RadosBenchMode::kWrite; }
  bool person() const { return ::isatty(STDERR_FILENO) == 1; }

  std::string time_prefix() const {
    return arguments_.show_time ? ceph_time_text(wall_ns()) + " " : "";
  }

  void find_target(std::ostream& out) {
    try {
      target_ = find_rados_target(arguments_, compat_);
    } catch (const RadosFailure&) {
      // The original has said this much by then.
      if (compat_ && plain()) out << fmt::format("hints = {:d}\n", arguments_.hints) << std::flush;
      throw;
    }
  }

  void tell(const std::string& text) const { std::cerr << text << "\n"; }

  std::vector<std::string> remove_objects(Cluster& cluster, const RunResult& result,
                                          const std::function<void()>& alive, std::ostream& out) {
    const int64_t start_ns = monotonic_ns();
    if (plain() && compat_)
      out << time_prefix() << "Cleaning up (deleting benchmark objects)\n" << std::flush;
    const IoContext io = cluster.io(arguments_.pool, arguments_.rados_namespace);
    uint64_t issued = 0;
    for (const VmResult& vm : result.vms)
      for (const JobResult& job : vm.jobs) issued += job.issued;
    // A run before this one may have come further.
    if (arguments_.reuse_bench) issued = std::max(issued, target_.ops_before);
    const uint64_t objects = target_.run.layout.objects_of(issued);
    Progress progress(std::cerr, progress_options(STDERR_FILENO, compat_ && !person()));
    const RemovedObjects gone = remove_bench_run(
        io, target_.run.prefix, objects, arguments_.concurrent_ios, [&](size_t done) {
          alive();
          progress.progress("removing objects", done, objects);
          return true;
        });
    progress.finish();
    if (gone.left > 0)
      throw Error(fmt::format("{} objects {}_object* are left: {}", gone.left, target_.run.prefix,
                              errno_text(gone.error)));
    if (arguments_.reuse_bench) rados_remove(io.get(), target_.run.run_name.c_str());
    const double seconds = static_cast<double>(monotonic_ns() - start_ns) / kNsPerSecond;
    if (plain() && compat_)
      out << time_prefix() << removed_text(gone.removed) << "\n"
          << time_prefix()
          << fmt::format("Clean up completed and total clean up time :{:g}\n", seconds);
    else if (plain())
      out << fmt::format("removed {} objects in {:.1f} s\n", format_count(gone.removed), seconds);
    out << std::flush;
    return {ObjectName{arguments_.pool, arguments_.rados_namespace,
                       bench_object_pattern(target_.run.prefix)}
                .text()};
  }

  void tell_end(const SessionEnd& end, std::ostream& out) const {
    if (!compat_ || person())
      for (const Taint& taint : end.result.taints)
        tell(fmt::format("{}: {}", taint.code, taint.text));
    const int error = tell_failed_ops(end.result);
    if (compat_ && end.exit_code != 0 && end.exit_code < kFirstSignal)
      tell_rados_error("benchmark", error ? error : EIO);
    if (!end.measured || !writes()) return;
    if (target_.limited_by_room && !arguments_.allow_nearfull && stopped_by_room(end.result))
      tell(
          fmt::format("stopped after {}: more would make the cluster nearly full (--allow-nearfull "
                      "writes on)",
                      format_size(target_.run.ops * target_.run.layout.op_size_bytes)));
    if (!arguments_.cleanup && !compat_ && plain())
      out << fmt::format(
          "the objects stay: rados -p {0} bench SECONDS seq|rand --run-name {1} reads them, rados "
          "-p {0} cleanup --run-name {1} removes them\n",
          arguments_.pool, target_.run.run_name);
  }

  bool stopped_by_room(const RunResult& result) const {
    return result.total(Op::kWrite).ios >= target_.run.ops;
  }

  /// Returns the errno of the first.
  int tell_failed_ops(const RunResult& result) const {
    int first = 0;
    const BenchLayout& layout = target_.run.layout;
    BenchNamer namer(target_.run.prefix);
    for (const VmResult& vm : result.vms)
      for (const JobResult& job : vm.jobs)
        for (const ErrorSample& sample : job.error_samples) {
          if (first == 0) first = sample.error == EILSEQ ? EIO : sample.error;
          const uint64_t op = sample.offset / layout.op_size_bytes;
          const char* const name = namer.name_of(layout.object_of(op));
          if (sample.error == EILSEQ)
            tell(compat_ ? fmt::format("{} is not correct!", name)
                         : fmt::format("{}: op {}, at byte {}, is not what was written", name, op,
                                       layout.offset_of(op)));
          else if (compat_ && !writes())
            tell(fmt::format("read got -{}", sample.error));
          else
            tell(fmt::format("{}: op {}: {}", name, op, errno_text(sample.error)));
        }
    return first;
  }

  int exit_code_of(const SessionEnd& end) const {
    if (!compat_ || end.exit_code == 0 || end.exit_code > kFirstSignal) return end.exit_code;
    return kRadosFailure;
  }

  const RadosArguments arguments_;
  const bool compat_;
  RadosTarget target_;
};

}  // namespace

int run_rados_bench(const RadosArguments& arguments, const std::vector<std::string>& argv,
                    bool compat) {
  return RadosBench(arguments, compat).run(argv);
}

}  // namespace cephmark
