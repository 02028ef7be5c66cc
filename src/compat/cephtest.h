// cephtest: the command line of the older tool of that name, which a link named cephtest stands in
// for:
//   cephtest --job-file F --go-jobs N --max-cpus C
// It runs N copies of a fio job, one per VM disk, on at most C CPUs, prints when it started and
// ended and one row per process and job. Pure functions; `cephmark run` does the work.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cephmark {

inline constexpr const char* kCephtestUsage =
    "usage: cephtest --job-file FILE --go-jobs N --max-cpus C";

struct CephtestArguments {
  bool help = false;  ///< -h, --help: print cephtest_help() and end with 0
  std::string job_file;
  int go_jobs = 0;  ///< how many VMs
  int max_cpus = 0;
};

/// argv[0] is the program's name. Options as that tool takes them: --option VALUE, --option=VALUE,
/// one dash or two. Throws UsageError that names everything that is missing or wrong at once.
CephtestArguments parse_cephtest(const std::vector<std::string>& argv);

/// The same in words of `cephmark run`: {"run", F, "--vms", N, "--max-cpus", C, "--output",
/// "table"}.
std::vector<std::string> cephtest_as_run(const CephtestArguments& arguments);

/// "test started at 2026-11-30 14:05:09" and "test ended at 2026-11-30 14:07:10", local time,
/// without a newline.
std::string cephtest_started_line(int64_t wall_ns);
std::string cephtest_ended_line(int64_t wall_ns);

std::string cephtest_help();

}  // namespace cephmark
