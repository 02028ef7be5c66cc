// rados_arguments: the command line of the `rados` program -> what is wanted of its `bench` and
// `cleanup`. Pure; docs/rados-bench.md tells what differs from the original.
//
//   rados -p POOL [-N NS] bench SECONDS write|seq|rand [options]
//   rados -p POOL [-N NS | --all] cleanup [--run-name NAME] [--prefix PREFIX] [-t N]
//
// Options may stand anywhere, as --option VALUE or --option=VALUE, '_' for '-' in their names;
// what stands behind a lone -- is no option. Sizes: bytes, or with K, M, G, T, P, E (1024).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "job/plan.h"
#include "output/rados_bench_report.h"

namespace cephmark {

/// A mistake as the original tells it, with its exit code (1, or 234 for a value that it cannot
/// read).
class RadosUsageError : public UsageError {
 public:
  explicit RadosUsageError(const std::string& message, std::string hint = "", int exit_code = 1)
      : UsageError(message, std::move(hint)), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

enum class RadosAction : uint8_t {
  kHelp,
  kBench,
  kCleanup,
  kOther,  ///< a subcommand that is the original's own: see `command`
};
enum class RadosBenchMode : uint8_t { kWrite, kSequentialRead, kRandomRead };

/// Where an op's bytes go to; several at once are allowed.
struct RadosBenchParts {
  bool object = false, omap = false, xattr = false;
  bool any() const { return object || omap || xattr; }
};

struct RadosArguments {
  static constexpr int64_t kNoLimit = -1;

  RadosAction action = RadosAction::kHelp;
  std::string command;  ///< the subcommand's word: "bench", "ls"; empty: none was given
  CephTarget ceph;
  std::string pool, rados_namespace;
  bool all_namespaces = false;  ///< --all (cleanup)

  RadosBenchMode mode = RadosBenchMode::kWrite;
  int64_t seconds = 0;  ///< kNoLimit: "max"
  unsigned concurrent_ios = 16;
  uint64_t op_size_bytes = 4 << 20, object_size_bytes = 4 << 20;  ///< settled: op <= object
  uint64_t max_objects = 0;                                       ///< 0: no limit
  std::optional<std::string> run_name;  ///< as given; the original's default is another's business
  bool cleanup = true;                  ///< after a write run
  bool hints = true;
  bool reuse_bench = false;
  bool verify = true;
  bool show_time = false;
  RadosBenchParts parts;  ///< none: the object, or where the run that is read has them

  std::string omap_start_after, omap_filter_prefix;  ///< reads of an omap
  uint64_t omap_max_return = 0;                      ///< 0: no limit

  std::string prefix;  ///< of the objects (cleanup, and ours for reads); empty: by record

  RadosBenchFormat format = RadosBenchFormat::kPlain;
  std::string output_file;  ///< empty: standard output

  // Ours
  std::optional<bool> compat;  ///< --compat, --no-compat; nothing: as the name that was called says
  bool lab = false;            ///< --lab: the lab's cluster
  bool json_strings = false;   ///< all JSON values are strings, as the original's
  bool random_payload = false;  ///< --payload random
  bool allow_nearfull = false;  ///< --allow-nearfull
  /// Options that are neither's, in order, as --name=value where a value may belong to it.
  std::vector<std::string> unknown;
};

/// argv[0] is the program's name. Throws RadosUsageError. For kOther only `action` and `command`
/// are filled in.
RadosArguments parse_rados_arguments(const std::vector<std::string>& argv);

/// What the options are, for help, completion and the man page.
struct RadosOptionHelp {
  std::string_view name;   ///< "block-size"
  char letter = 0;         ///< 'b'; 0: none
  std::string_view value;  ///< "SIZE"; empty: a flag
  std::string_view help;
  bool ours = false;  ///< not the original's
};
std::span<const RadosOptionHelp> rados_option_help();

std::string rados_help();

}  // namespace cephmark
