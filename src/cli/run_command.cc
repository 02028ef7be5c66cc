// cephmark run: from job files to a report. What happens in between: cli/session.
#include <unistd.h>

#include <iostream>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/failure.h"
#include "cli/run_options.h"
#include "cli/run_plan.h"
#include "cli/session.h"
#include "fleet/run_identity.h"

namespace cephmark {
namespace {

// The documents that were asked for tell of a refused job, too.
void tell_refusal(const RunOptions& options, const std::vector<std::string>& argv,
                  const std::string& why) {
  if (options.common.outputs.empty() || options.common.session.plan_only) return;
  OutputSet outputs(options.common.outputs);
  RunResult result;
  result.plan.command = "run";
  result.plan.arguments = argv;
  write_failure(outputs, result, make_run_id(""), why);
}

}  // namespace

int run_run_command(const std::vector<std::string>& argv) {
  const auto options = parse_run_options(argv);
  if (!options) return 0;
  const SessionOptions& session = options->common.session;
  Diagnostics diagnostics;
  Plan plan;
  try {
    plan = make_run_plan(*options, argv, diagnostics);
  } catch (const Error& error) {
    tell_refusal(*options, argv, error.what());
    throw;
  }
  if (!session.quiet && diagnostics.has_warnings())
    std::cerr << diagnostics.render(Severity::kWarning);
  OutputSet outputs(options->common.outputs,
                    {.colour = ::isatty(STDOUT_FILENO) == 1, .columns = 100});
  const SessionEnd end = run_session(std::move(plan), session, outputs);
  return leave_process(end, end.exit_code);
}

}  // namespace cephmark
