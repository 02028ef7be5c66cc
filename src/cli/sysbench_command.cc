// cephmark sysbench: sysbench's fileio test by its own command line, texts and exit codes. What is
// better than sysbench's is told in docs/sysbench.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "base/error.h"
#include "base/rng.h"
#include "base/time.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/real_program.h"
#include "cli/session.h"
#include "compat/sysbench_arguments.h"
#include "compat/sysbench_files.h"
#include "compat/sysbench_plan.h"
#include "output/sysbench_report.h"

namespace cephmark {
namespace {

constexpr int kSysbenchFailure = 1;
constexpr int kFirstSignalCode = 128;

void say(const std::string& text) {
  std::cout << text << std::flush;
}

int become_real_sysbench(const std::vector<std::string>& argv) {
  become_real_program("sysbench", argv, "only sysbench's fileio test is done here");
}

// For completion and the man page.
void describe_options() {
  CLI::App app{"sysbench's fileio test by its own command line: fileio prepare|run|cleanup|help.",
               "cephmark sysbench"};
  for (const SysbenchOptionHelp& option : sysbench_option_help()) {
    if (option.name == "help") continue;  // every CLI::App has it
    describe_option(app, option.name, option.value, option.help,
                    option.is_ours   ? "Not sysbench's"
                    : option.is_file ? "Options of fileio"
                                     : "Options of all tests");
  }
  if (!describe_to_reader(app)) say(sysbench_help());
}

int run(const SysbenchArguments& arguments, const std::vector<std::string>& argv) {
  say(sysbench_banner() + "\n" + sysbench_run_header(arguments));
  check_sysbench_files(arguments);
  say("Initializing worker threads...\n\n");
  Plan plan = make_sysbench_plan(arguments, argv);
  if (plan.seed == 0) plan.seed = fresh_seed();
  SessionOptions session;
  session.quiet = true;  // --report-interval is sysbench's way
  session.keep_files = true;
  SysbenchReportOptions report;
  report.new_layout = arguments.layout == "1.1";
  report.extra = !arguments.compat;
  report.histogram = arguments.histogram;
  report.percentile = arguments.percentile;
  report.report_interval_ns = arguments.report_interval_s * kNsPerSecond;
  report.tell_mismatch = sysbench_mismatch_text;
  OutputSet outputs(make_sysbench_report(std::cout, report));
  const SessionEnd end = run_session(std::move(plan), session, outputs);
  const bool signalled = end.exit_code > kFirstSignalCode;
  return leave_process(end, signalled ? end.exit_code : end.exit_code == 0 ? 0 : kSysbenchFailure);
}

int tell(const SysbenchRefusal& refusal) {
  using Place = SysbenchRefusal::Place;
  const Place place = refusal.place();
  if (place != Place::kStderr && place != Place::kStdout) say(sysbench_banner() + "\n");
  const bool on_stderr = place == Place::kStderr || place == Place::kStderrBanner;
  (on_stderr ? std::cerr : std::cout) << refusal.what() << "\n" << std::flush;
  if (place == Place::kStdoutBannerHelp) say(sysbench_file_help());
  return kSysbenchFailure;
}

int carry_out(const SysbenchArguments& arguments, const std::vector<std::string>& argv) {
  switch (arguments.action) {
    case SysbenchAction::kOtherTest:
      return become_real_sysbench(argv);
    case SysbenchAction::kHelp:
      describe_options();
      return 0;
    case SysbenchAction::kShowVersion:
      say("sysbench 1.0.20\n");
      return 0;
    case SysbenchAction::kFileHelp:
      say(sysbench_banner() + "\n" + sysbench_file_help());
      return 0;
    case SysbenchAction::kPrepare:
      say(sysbench_banner() + "\n");
      prepare_sysbench_files(arguments, say);
      return 0;
    case SysbenchAction::kCleanup:
      say(sysbench_banner() + "\n");
      cleanup_sysbench_files(arguments.file, say);
      return 0;
    case SysbenchAction::kRun:
      check_sysbench_run(arguments);
      return run(arguments, argv);
  }
  return kSysbenchFailure;
}

int sysbench(const std::vector<std::string>& argv, bool is_link) {
  std::vector<std::string> warnings;
  const auto warn = [&] {
    for (const std::string& line : warnings) std::cerr << line << "\n";
  };
  try {
    SysbenchArguments arguments = parse_sysbench_arguments(argv, warnings);
    warn();
    warnings.clear();
    arguments.compat |= is_link;
    const int code = carry_out(arguments, argv);
    if (!std::cout.flush()) throw Error("the output could not be written whole");
    return code;
  } catch (const SysbenchRefusal& refusal) {
    warn();
    return tell(refusal);
  } catch (const Error& error) {
    // sysbench tells on stdout what ends it.
    const std::string text = error.what();
    (text.starts_with("FATAL") ? std::cout : std::cerr)
        << (text.starts_with("FATAL") ? "" : "sysbench: ") << text << "\n"
        << std::flush;
    if (!error.hint().empty()) std::cerr << "  hint: " << error.hint() << "\n";
    return kSysbenchFailure;
  }
}

}  // namespace

int run_sysbench_command(const std::vector<std::string>& argv) {
  return sysbench(argv, false);
}

int run_sysbench_link(const std::vector<std::string>& argv) {
  return sysbench(argv, true);
}

}  // namespace cephmark
