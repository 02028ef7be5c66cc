#include "compat/sysbench_options.h"

#include <fmt/format.h>

#include <algorithm>

namespace cephmark {
namespace {

using Arguments = SysbenchArguments;
using Files = SysbenchFileOptions;
using Option = SysbenchOption;
using Group = SysbenchOption::Group;
using namespace sysbench_kinds;

const std::vector<Option>& options() {
  static const std::vector<Option> kRows = {
      {"threads", "=N", "number of threads to use [1]", Group::kGeneral, &Arguments::threads},
      {"events", "=N", "limit for total number of events [0]", Group::kGeneral, &Arguments::events},
      {"time", "=N", "limit for total execution time in seconds [10]", Group::kGeneral,
       &Arguments::time_s},
      {"warmup-time", "=N",
       "execute events for this many seconds before the statistics begin (sysbench 1.1) [0]",
       Group::kGeneral, &Arguments::warmup_time_s},
      {"forced-shutdown", "=STRING",
       "number of seconds to wait after the --time limit before forcing shutdown, or 'off' to "
       "disable [off]",
       Group::kGeneral, &Arguments::forced_shutdown},
      {"thread-stack-size", "=SIZE", "size of stack per thread [64K]", Group::kGeneral, Ignored{}},
      {"rate", "=N", "average transactions rate. 0 for unlimited rate [0]", Group::kGeneral,
       &Arguments::rate},
      {"report-interval", "=N",
       "periodically report intermediate statistics with a specified interval in seconds. 0 "
       "disables intermediate reports [0]",
       Group::kGeneral, &Arguments::report_interval_s},
      {"report-checkpoints", "=[LIST,...]",
       "dump full statistics and reset all counters at specified points in time (not there yet) []",
       Group::kGeneral, Refused{"use --report-interval"}},
      {"debug", "[=on|off]", "print more debugging info [off]", Group::kGeneral, IgnoredFlag{}},
      {"validate", "[=on|off]", "perform validation checks where possible [off]", Group::kGeneral,
       &Arguments::validate},
      {"help", "[=on|off]", "print help and exit [off]", Group::kGeneral, &Arguments::help},
      {"version", "[=on|off]", "print version and exit [off]", Group::kGeneral,
       &Arguments::version},
      {"config-file", "=FILENAME", "File containing command line options (not there yet)",
       Group::kGeneral, Refused{"give the options on the command line"}},
      {"tx-rate", "=N", "deprecated alias for --rate [0]", Group::kGeneral, &Arguments::rate,
       "rate"},
      {"max-requests", "=N", "deprecated alias for --events [0]", Group::kGeneral,
       &Arguments::events, "events"},
      {"max-time", "=N", "deprecated alias for --time [0]", Group::kGeneral, &Arguments::time_s,
       "time"},
      {"num-threads", "=N", "deprecated alias for --threads [1]", Group::kGeneral,
       &Arguments::threads, "threads"},
      {"rand-type", "=STRING",
       "random numbers distribution {uniform,gaussian,special,pareto} [special]", Group::kRandom,
       &Arguments::rand_type},
      {"rand-spec-iter", "=N", "number of iterations used for numbers generation [12]",
       Group::kRandom, &Arguments::rand_spec_iter},
      {"rand-spec-pct", "=N",
       "percentage of values to be treated as 'special' (for special distribution) [1]",
       Group::kRandom, &Arguments::rand_spec_pct},
      {"rand-spec-res", "=N",
       "percentage of 'special' values to use (for special distribution) [75]", Group::kRandom,
       &Arguments::rand_spec_res},
      {"rand-seed", "=N",
       "seed for random number generator. When 0, the current time is used as a RNG seed. [0]",
       Group::kRandom, &Arguments::rand_seed},
      {"rand-pareto-h", "=N", "parameter h for pareto distribution [0.2]", Group::kRandom,
       &Arguments::rand_pareto_h},
      {"verbosity", "=N", "verbosity level {5 - debug, 0 - only critical messages} [3]",
       Group::kLog, &Arguments::verbosity},
      {"percentile", "=N",
       "percentile to calculate in latency statistics (1-100). Use the special value of 0 to "
       "disable percentile calculations [95]",
       Group::kLog, &Arguments::percentile},
      {"histogram", "[=on|off]", "print latency histogram in report [off]", Group::kLog,
       &Arguments::histogram},
      {"file-num", "=N", "number of files to create [128]", Group::kFile, &Files::num},
      {"file-block-size", "=N", "block size to use in all IO operations [16384]", Group::kFile,
       SizeMember{&Files::block_bytes}},
      {"file-total-size", "=SIZE", "total size of files to create [2G]", Group::kFile,
       SizeMember{&Files::total_bytes}},
      {"file-test-mode", "=STRING", "test mode {seqwr, seqrewr, seqrd, rndrd, rndwr, rndrw}",
       Group::kFile, &Files::test_mode},
      {"file-io-mode", "=STRING", "file operations mode {sync,async,mmap} [sync]", Group::kFile,
       &Files::io_mode},
      {"file-async-backlog", "=N", "number of asynchronous operatons to queue per thread [128]",
       Group::kFile, &Files::async_backlog},
      {"file-extra-flags", "=[LIST,...]",
       "list of additional flags to use to open files {sync,dsync,direct} []", Group::kFile,
       ExtraFlags{}},
      {"file-fsync-freq", "=N",
       "do fsync() after this number of requests (0 - don't use fsync()) [100]", Group::kFile,
       &Files::fsync_freq},
      {"file-fsync-all", "[=on|off]", "do fsync() after each write operation [off]", Group::kFile,
       &Files::fsync_all},
      {"file-fsync-end", "[=on|off]", "do fsync() at the end of test [on]", Group::kFile,
       &Files::fsync_end},
      {"file-fsync-mode", "=STRING",
       "which method to use for synchronization {fsync, fdatasync} [fsync]", Group::kFile,
       &Files::fsync_mode},
      {"file-merged-requests", "=N",
       "merge at most this number of IO requests if possible (0 - don't merge) [0]", Group::kFile,
       &Files::merged_requests},
      {"file-rw-ratio", "=N", "reads/writes ratio for combined test [1.5]", Group::kFile,
       &Files::rw_ratio},
      {"compat", "[=on|off]",
       "sysbench's own text, letter by letter, without the lines that cephmark adds [off; on under "
       "a link named sysbench]",
       Group::kOurs, &Arguments::compat},
      {"layout", "=STRING", "whose report: that of sysbench {1.0,1.1} [1.0]", Group::kOurs,
       &Arguments::layout},
      {"payload", "=STRING",
       "what is written {zeros,random}: zeros as sysbench, random cannot be compressed [zeros]",
       Group::kOurs, &Arguments::payload},
      {"preset", "=[LIST,...]",
       "what makes a run honest {direct,incompressible}: past the page cache, and --payload=random "
       "[]",
       Group::kOurs, Preset{}},
  };
  return kRows;
}

}  // namespace

const SysbenchOption* find_sysbench_option(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  for (const Option& option : options())
    if (name == option.name) return &option;
  return nullptr;
}

namespace {

std::string option_lines(Group group, size_t width) {
  std::string text;
  for (const Option& option : options()) {
    if (option.group != group) continue;
    const std::string left = fmt::format("--{}{}", option.name, option.value);
    text += fmt::format("  {:<{}} {}\n", left, width, option.help);
  }
  return text;
}

}  // namespace

std::string sysbench_file_help() {
  return "fileio options:\n" + option_lines(Group::kFile, 29) + "\n";
}

std::string sysbench_help() {
  return "Usage:\n  sysbench [options]... [testname] [command]\n\n"
         "Commands implemented by most tests: prepare run cleanup help\n\n"
         "General options:\n" +
         option_lines(Group::kGeneral, 31) + "\nPseudo-Random Numbers Generator options:\n" +
         option_lines(Group::kRandom, 18) + "\nLog options:\n" + option_lines(Group::kLog, 20) +
         "\nfileio options:\n" + option_lines(Group::kFile, 29) +
         "\nOptions that only cephmark has:\n" + option_lines(Group::kOurs, 20) +
         "\nfileio is done by cephmark; all other tests are work for the real sysbench on PATH.\n";
}

std::vector<SysbenchOptionHelp> sysbench_option_help() {
  std::vector<SysbenchOptionHelp> out;
  for (const Option& option : options()) {
    std::string value = option.value;
    if (value.starts_with("[")) value.clear();
    if (value.starts_with("=")) value.erase(0, 1);
    out.push_back({option.name, value, option.help, option.group == Group::kFile,
                   option.group == Group::kOurs});
  }
  return out;
}

}  // namespace cephmark
