// sysbench_arguments: sysbench's command line for its fileio test: common options, --file-*
// options, the old --test=fileio, read in the order and with the error texts and exit codes of
// sysbench 1.0.20. Pure functions without state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace cephmark {

enum class SysbenchAction : uint8_t {
  kHelp,         ///< --help
  kShowVersion,  ///< --version
  kFileHelp,     ///< fileio help
  kPrepare,      ///< fileio prepare
  kRun,          ///< fileio run
  kCleanup,      ///< fileio cleanup
  kOtherTest,    ///< cpu, memory, a script: work for the real sysbench
};

enum class SysbenchMode : uint8_t { kSeqWr, kSeqRewr, kSeqRd, kRndRd, kRndWr, kRndRw };
enum class SysbenchIo : uint8_t { kSync, kAsync, kMmap };

struct SysbenchFileOptions {
  int num = 128;
  uint64_t block_bytes = 16384;
  uint64_t total_bytes = uint64_t{2} << 30;
  std::string test_mode;  ///< as written; only run reads it
  std::string io_mode = "sync";
  int async_backlog = 128;
  bool sync = false, dsync = false, direct = false;  ///< --file-extra-flags
  int fsync_freq = 100;                              ///< 0: off
  bool fsync_all = false, fsync_end = true;
  std::string fsync_mode = "fsync";
  int merged_requests = 0;
  double rw_ratio = 1.5;

  /// Of each file as sysbench counts it: the total divided by the number, rounded down.
  uint64_t file_bytes() const { return total_bytes / static_cast<uint64_t>(num); }
  /// Of each file as prepare makes it: whole blocks, rounded up.
  uint64_t prepared_bytes() const {
    return (file_bytes() + block_bytes - 1) / block_bytes * block_bytes;
  }
  SysbenchMode mode() const;  ///< of a checked test_mode
  SysbenchIo io() const;      ///< of a checked io_mode
};

struct SysbenchArguments {
  SysbenchAction action = SysbenchAction::kHelp;
  SysbenchFileOptions file;

  int threads = 1;
  int64_t events = 0;         ///< 0: no limit
  int64_t time_s = 10;        ///< 0: no limit
  int64_t warmup_time_s = 0;  ///< of sysbench 1.1
  int64_t rate = 0;           ///< per second; 0: no limit
  int64_t report_interval_s = 0;
  int64_t rand_seed = 0;  ///< 0: from the clock
  int percentile = 95;    ///< 0: none
  int verbosity = 3;
  int forced_shutdown_s = -1;  ///< -1: off
  bool histogram = false, validate = false, help = false, version = false;
  std::string forced_shutdown = "off";
  std::string rand_type = "special";
  int rand_spec_iter = 12, rand_spec_pct = 1, rand_spec_res = 75;
  double rand_pareto_h = 0.2;

  // Not sysbench's.
  bool compat = false;            ///< its text letter by letter, nothing added
  std::string layout = "1.0";     ///< or "1.1"
  std::string payload = "zeros";  ///< or "random"
  bool preset_direct = false;
};

/// A command line that sysbench would not take: which stream gets the message, and what is told
/// around it. Its exit code is always 1.
class SysbenchRefusal : public UsageError {
 public:
  enum class Place : uint8_t {
    kStderr,            ///< the message alone
    kStderrBanner,      ///< the version on standard output before it
    kStdout,            ///< the message alone, on standard output
    kStdoutBanner,      ///< "FATAL: ..." on standard output behind the version
    kStdoutBannerHelp,  ///< and the list of options behind that
  };
  SysbenchRefusal(const std::string& message, Place place) : UsageError(message), place_(place) {}
  Place place() const { return place_; }

 private:
  Place place_;
};

/// argv[0] is the program. For kOtherTest nothing is checked. `warnings` gets lines for standard
/// error, also when it throws SysbenchRefusal.
SysbenchArguments parse_sysbench_arguments(const std::vector<std::string>& argv,
                                           std::vector<std::string>& warnings);

/// Checks what only `run` looks at: mode, ratio, I/O mode. Throws SysbenchRefusal.
void check_sysbench_run(const SysbenchArguments& arguments);

/// "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)": the first line of all that sysbench prints.
std::string sysbench_banner();
/// What `fileio help` prints, and what `--help` does.
std::string sysbench_file_help();
std::string sysbench_help();

/// One option, for completion and the man page.
struct SysbenchOptionHelp {
  std::string name;   ///< without dashes
  std::string value;  ///< empty: a flag
  std::string help;
  bool is_file = false, is_ours = false;
};
std::vector<SysbenchOptionHelp> sysbench_option_help();

/// "dsync directio", "(none)": how sysbench names the flags of its files.
std::string sysbench_flags_text(const SysbenchFileOptions& options);
/// "16KiB", "682.67KiB": how it tells sizes.
std::string sysbench_size_text(uint64_t bytes);

}  // namespace cephmark
