// fio_arguments: fio's command line -> sections as a job file has them, the job files that were
// named, and what fio is to print. Pure functions; docs/fio.md tells what differs from fio.
//
//   fio [options] [job options before any --name: defaults] --name=J [job options] ... [job files]
//
// Options are taken as getopt_long_only takes them: one dash or two, --option=VALUE or
// --option VALUE, unique abbreviations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "job/lexer.h"
#include "job/option_table.h"
#include "output/fio_report.h"

namespace cephmark {

enum class FioAction : uint8_t { kRun, kParseOnly, kHelp, kShowVersion, kCommandHelp, kEngineHelp };
enum class FioEta : uint8_t { kAuto, kAlways, kNever };

struct FioArguments {
  FioAction action = FioAction::kRun;
  std::string topic;  ///< --cmdhelp=bs, --enghelp=rbd,pool; empty: all

  std::vector<RawOption> globals;          ///< job options before any --name
  std::vector<RawSection> sections;        ///< one per --name
  std::vector<std::string> job_files;      ///< "-": standard input
  std::vector<std::string> only_sections;  ///< --section; empty: all
  bool read_only = false;                  ///< --readonly
  bool warnings_fatal = false;

  FioFormats formats;
  std::string output_file;  ///< --output; empty: standard output
  FioEta eta = FioEta::kAuto;
  int64_t status_interval_ns = 0;    ///< 0: only at the end
  std::vector<std::string> ignored;  ///< options that change nothing here, for --explain

  // Ours
  bool explain = false;  ///< warnings to standard error even when it is no terminal
  bool allow_unsupported = false;
  std::vector<std::string> allow_write;  ///< targets that may be written although they have data
};

/// argv[0] is the program's name. Mistakes go to `diagnostics`, whose positions point into the
/// command line; what could be read is returned all the same. `engines`: engine_descriptions().
FioArguments parse_fio_arguments(const std::vector<std::string>& argv,
                                 std::span<const EngineDescription> engines,
                                 Diagnostics& diagnostics);

/// What the program's own options are, for help, completion and the man page.
struct FioOptionHelp {
  std::string_view name;   ///< "output-format"
  std::string_view value;  ///< "F,..."; empty: a flag
  std::string_view help;
  bool ours = false;  ///< not fio's
};
std::span<const FioOptionHelp> fio_option_help();

std::string fio_help();

}  // namespace cephmark
