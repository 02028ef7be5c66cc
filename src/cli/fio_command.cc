// cephmark fio: fio's command line, run natively; fio's reports, streams and exit codes. What is
// better than fio's is told in docs/fio.md.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>

#include "base/error.h"
#include "base/rng.h"
#include "cli/ceph_options.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/run_plan.h"
#include "cli/session.h"
#include "compat/fio_arguments.h"
#include "compat/fio_plan.h"
#include "compat/option_help.h"
#include "engine/engine_table.h"
#include "job/job_draft.h"
#include "output/fio_json.h"

namespace cephmark {
namespace {

constexpr int kFioFailure = 1;        ///< fio's code for a usage error and for one failed job
constexpr int kFioInterrupted = 128;  ///< SIGINT, SIGTERM
constexpr int kMaxExitCode = 255;

/// How many of fio's jobs (clones of sections) did not end well. fio counts modulo 256, so that 256
/// failures are a success; we stop at 255.
int failed_jobs(const RunResult& result) {
  int failed = 0;
  for (const auto& vm : result.vms)
    for (const auto& job : vm.jobs)
      for (const auto& clone : job.each_clone()) failed += clone.failed();
  return std::min(failed, kMaxExitCode);
}

int exit_code_of(const SessionEnd& end) {
  if (!end.measured) return end.exit_code == 0 ? 0 : kFioFailure;
  if (end.exit_code > kFioInterrupted) return kFioInterrupted;
  if (const int failed = failed_jobs(end.result)) return failed;
  return end.exit_code == 0 ? 0 : kFioFailure;
}

/// A program that reads the JSON gets a document for a run that never began, too: fio's own says
/// "error": 0 then.
RunResult unmeasured(const SessionEnd& end) {
  RunResult result = end.result;
  result.vms.clear();
  for (size_t vm = 0; vm < result.plan.vms.size(); ++vm) {
    VmResult& out = result.vms.emplace_back();
    out.vm = static_cast<int>(vm);
    for (size_t job = 0; job < result.plan.vms[vm].jobs.size(); ++job) {
      JobResult& one = out.jobs.emplace_back();
      one.job = static_cast<int>(job);
      one.failure = result.error;
    }
  }
  return result;
}

Plan make_plan(const FioArguments& arguments, const std::vector<std::string>& argv,
               std::span<const EngineDescription> engines, Diagnostics& diagnostics) {
  ParseOptions options;
  options.allow_unsupported = arguments.allow_unsupported;
  options.path_exists = [](const std::string& path) { return ::access(path.c_str(), F_OK) == 0; };
  Plan plan = make_fio_plan(arguments, argv, engines, text_of_job_file, options, diagnostics);
  if (arguments.warnings_fatal && diagnostics.has_warnings())
    throw UsageError(diagnostics.render(Severity::kWarning),
                     "without --warnings-fatal they are "
                     "warnings");
  diagnostics.throw_if_errors();
  plan.seed = fresh_seed();
  plan.ceph = resolve_ceph_target({});
  return plan;
}

int run(const FioArguments& arguments, Plan plan, const Diagnostics& diagnostics) {
  std::ofstream file;
  if (!arguments.output_file.empty()) {
    file.open(arguments.output_file, std::ios::trunc);
    if (!file)
      throw Error(fmt::format("cannot write {}: {}", arguments.output_file, errno_text(errno)));
  }
  std::ostream& out = arguments.output_file.empty() ? std::cout : file;
  const bool person = ::isatty(STDERR_FILENO) == 1;
  const bool talk = person || arguments.explain;
  if (talk && diagnostics.has_warnings()) std::cerr << diagnostics.render(Severity::kWarning);

  SessionOptions session;
  session.quiet = arguments.eta == FioEta::kNever || (!person && arguments.eta == FioEta::kAuto);
  session.keep_files = true;  // as fio's
  OutputSet outputs(make_fio_report(out, arguments.formats));
  const SessionEnd end = run_session(std::move(plan), session, outputs);
  if (!end.measured && arguments.formats.json)
    out << fio_json_text(unmeasured(end), {.bins = arguments.formats.bins}) << std::flush;
  if (talk)
    for (const auto& taint : end.result.taints)
      std::cerr << fmt::format("{}: {}\n", taint.code, taint.text);
  if (!out) throw Error("the report could not be written whole");
  return leave_process(end, exit_code_of(end));
}

// For completion and the man page: the program's own options and those of a job.
void tell_help() {
  CLI::App app{"fio's command line, run natively: jobs of --name sections and of job files.",
               "cephmark fio"};
  app.footer("Job options of engines: cephmark fio --enghelp=ENGINE");
  for (const FioOptionHelp& option : fio_option_help())
    describe_option(app, option.name, option.value, option.help,
                    option.ours ? "Not fio's" : "fio's own options");
  for (const CoreOption& option : core_options())
    if (option.name != "name")
      describe_option(app, option.name, option.kind == OptionKind::kFlag ? "" : "VALUE",
                      option.help, "Job options");
  if (!describe_to_reader(app)) std::cout << fio_help();
}

int carry_out(const std::vector<std::string>& argv) {
  const std::vector<EngineDescription> engines = engine_descriptions();
  Diagnostics diagnostics;
  const FioArguments arguments = parse_fio_arguments(argv, engines, diagnostics);
  diagnostics.throw_if_errors();
  switch (arguments.action) {
    case FioAction::kHelp:
      tell_help();
      return 0;
    case FioAction::kShowVersion:
      std::cout << fio_version_text() << "\n";
      return 0;
    case FioAction::kCommandHelp:
      std::cout << job_option_help(arguments.topic);
      return 0;
    case FioAction::kEngineHelp:
      std::cout << engine_option_help(arguments.topic, engines);
      return 0;
    case FioAction::kParseOnly:
    case FioAction::kRun:
      break;
  }
  if (arguments.status_interval_ns > 0)
    throw UsageError("--status-interval is not there yet",
                     "the report comes once, at the end; cephmark run has a live line");
  if (argv.size() == 1) {
    std::cout << fio_help();
    return kFioFailure;
  }
  Plan plan = make_plan(arguments, argv, engines, diagnostics);
  if (arguments.action == FioAction::kParseOnly) return 0;
  return run(arguments, std::move(plan), diagnostics);
}

}  // namespace

int run_fio_command(const std::vector<std::string>& argv) {
  try {
    return carry_out(argv);
  } catch (const Error& error) {
    std::cerr << "fio: " << error.what() << "\n";
    if (!error.hint().empty()) std::cerr << "  hint: " << error.hint() << "\n";
    return kFioFailure;
  }
}

}  // namespace cephmark
