// cephmark rados: `bench` and `cleanup` of the program rados by its own command line, texts and
// exit codes; its other subcommands go to it. What differs is told in docs/rados-bench.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <iostream>
#include <string_view>

#include "cli/ceph_options.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/rados_front.h"
#include "cli/real_program.h"

namespace cephmark {
namespace {

int become_real_rados(std::vector<std::string> argv) {
  argv[0] = "rados";
  become_real_program("rados", argv, "only rados bench and rados cleanup are done here");
}

// For completion and the man page.
void tell_rados_help() {
  CLI::App app{
      "rados bench and rados cleanup by rados's own command line: rados -p POOL bench "
      "SECONDS write|seq|rand, rados -p POOL cleanup.",
      "cephmark rados"};
  for (const RadosOptionHelp& option : rados_option_help())
    if (option.name != "help")
      describe_option(app, option.name, option.value, option.help,
                      option.ours ? "Not rados's" : "rados's own options");
  if (!describe_to_reader(app)) std::cout << rados_help();
}

int carry_out(RadosArguments arguments, const std::vector<std::string>& argv, bool is_link) {
  const bool compat = arguments.compat.value_or(is_link);
  if (arguments.lab) arguments.ceph = resolve_ceph_target({arguments.ceph, true});
  switch (arguments.action) {
    case RadosAction::kHelp:
      if (is_link && arguments.command.empty() && !real_program("rados").empty())
        return become_real_rados(argv);
      tell_rados_help();
      return 0;
    case RadosAction::kOther:
      if (arguments.command == "load-gen")
        throw RadosUsageError(
            "rados load-gen is not done here, and its numbers are of no use: it "
            "tells no latencies; rados bench measures");
      return become_real_rados(argv);
    case RadosAction::kBench:
      return run_rados_bench(arguments, argv, compat);
    case RadosAction::kCleanup:
      return run_rados_cleanup(arguments, compat);
  }
  return kRadosFailure;
}

bool has(const std::vector<std::string>& argv, const char* word) {
  return std::find(argv.begin(), argv.end(), word) != argv.end();
}

/// Before the words are read: a mistake in them is told in the way that they ask for.
bool wants_compat(const std::vector<std::string>& argv, bool is_link) {
  return has(argv, "--compat") || (is_link && !has(argv, "--no-compat"));
}

int tell(const Error& error, bool compat, const char* during) {
  const auto* rados = dynamic_cast<const RadosFailure*>(&error);
  std::cout.flush();
  if (compat && rados) {
    if (!rados->original().empty()) std::cerr << rados->original() << "\n";
    tell_rados_error(during, rados->error());
    return kRadosFailure;
  }
  std::cerr << (compat ? "" : "cephmark: ") << error.what() << "\n";
  if (!error.hint().empty() && !compat) std::cerr << "  hint: " << error.hint() << "\n";
  const bool own_code = !compat || error.code() == ExitCode::kInterrupted;
  return own_code ? static_cast<int>(error.code()) : kRadosFailure;
}

int rados(const std::vector<std::string>& argv, bool is_link) {
  const bool compat = wants_compat(argv, is_link);
  const char* during = "benchmark";
  try {
    const RadosArguments arguments = parse_rados_arguments(argv);
    if (arguments.action == RadosAction::kCleanup) during = "cleanup";
    return carry_out(arguments, argv, is_link);
  } catch (const RadosUsageError& error) {
    if (is_link && has(argv, "--version")) return become_real_rados(argv);
    tell(error, compat, during);
    if (compat && std::string_view(error.what()).starts_with("Specified --prefix invalid"))
      tell_rados_error("cleanup", EINVAL);
    return compat ? error.exit_code() : static_cast<int>(ExitCode::kUsage);
  } catch (const Error& error) {
    return tell(error, compat, during);
  }
}

}  // namespace

int run_rados_command(const std::vector<std::string>& argv) {
  return rados(argv, false);
}

int run_rados_link(const std::vector<std::string>& argv) {
  return rados(argv, true);
}

}  // namespace cephmark
