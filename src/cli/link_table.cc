#include "cli/link_table.h"

#include <fmt/format.h>

#include <array>
#include <iostream>

#include "base/error.h"
#include "base/fd.h"
#include "base/time.h"
#include "cli/commands.h"
#include "compat/cephtest.h"

namespace cephmark {
namespace {

void require_job_file(const CephtestArguments& arguments) {
  try {
    read_file(arguments.job_file);
  } catch (const Error& error) {
    throw UsageError(fmt::format("cephtest: --job-file: {}", error.what()), kCephtestUsage);
  }
}

int run_cephtest_link(const std::vector<std::string>& argv) {
  const CephtestArguments arguments = parse_cephtest(argv);
  if (arguments.help) {
    std::cout << cephtest_help();
    return 0;
  }
  require_job_file(arguments);  // a test that cannot start has no time of its start
  std::cout << cephtest_started_line(wall_ns()) << std::endl;
  const int code = run_run_command(cephtest_as_run(arguments));
  std::cout << cephtest_ended_line(wall_ns()) << std::endl;
  return code;
}

constexpr auto kLinks = std::to_array<LinkRow>({
    {"cephtest", "--job-file F --go-jobs N --max-cpus C, as the tool of that name",
     run_cephtest_link},
    {"fio", "fio's command line, as cephmark fio", run_fio_command},
    {"rados", "rados bench and cleanup; its other subcommands go to the real rados",
     run_rados_link},
    {"rbd", "rbd's bench; everything else goes to the real rbd", run_rbd_link},
    {"sysbench", "sysbench's fileio test; its other tests go to the real sysbench",
     run_sysbench_link},
});

}  // namespace

std::span<const LinkRow> link_table() {
  return kLinks;
}

}  // namespace cephmark
