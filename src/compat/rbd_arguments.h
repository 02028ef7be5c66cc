// rbd_arguments: the command line of the `rbd` program -> what is wanted of its `bench` and
// `bench-write`. Pure; docs/rbd-bench.md tells what differs from the original.
//
//   rbd bench [POOL/[NAMESPACE/]]IMAGE[@SNAP] --io-type read|write|rw [options]
//
// Options may stand anywhere, as --option VALUE or --option=VALUE. Sizes: bytes, or with K, M, G,
// T, P, E (1024). Every other --name=VALUE is taken to be an option of Ceph's own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "job/plan.h"

namespace cephmark {

/// A mistake as the original tells it, with its exit code: 1 for the command line itself, else an
/// errno.
class RbdRefusal : public UsageError {
 public:
  explicit RbdRefusal(const std::string& message, int exit_code = 1, std::string hint = "")
      : UsageError(message, std::move(hint)), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

enum class RbdAction : uint8_t {
  kHelp,
  kBench,
  kBenchWrite,  ///< the old name of bench --io-type write
  kOther,       ///< a subcommand that is the original's own
};
enum class RbdBenchType : uint8_t { kRead, kWrite, kReadWrite };
enum class RbdBenchPattern : uint8_t { kSequential, kRandom, kFullSequential };

/// What is written: one byte again and again (the original's), or data that does not compress.
struct RbdBenchPayload {
  enum class Kind : uint8_t { kDefault, kByte, kRandomByte, kRandom };
  Kind kind = Kind::kDefault;
  uint8_t byte = 0;
};

struct RbdArguments {
  RbdAction action = RbdAction::kHelp;
  CephTarget ceph;
  std::vector<std::pair<std::string, std::string>> ceph_options;  ///< {"rbd_cache", "false"}

  std::string image_spec;  ///< as written; empty: --image
  std::string pool, rados_namespace, image;

  RbdBenchType type = RbdBenchType::kRead;
  RbdBenchPattern pattern = RbdBenchPattern::kSequential;
  uint64_t io_size_bytes = 4096, io_total_bytes = uint64_t{1} << 30;
  bool io_total_given = false;
  unsigned io_threads = 16;
  unsigned rw_mix_read = 50;
  RbdBenchPayload payload;

  // Ours
  std::optional<bool> compat;  ///< --compat, --no-compat; nothing: as the name that was called says
  int64_t run_time_ns = 0;     ///< --run-time; 0: no limit
  std::vector<std::string> allow_write;
};

/// argv[0] is the program's name, argv[1...] its words. Throws RbdRefusal. For kOther nothing else
/// is filled in.
RbdArguments parse_rbd_arguments(const std::vector<std::string>& argv);

/// What the options are, for help, completion and the man page.
struct RbdOptionHelp {
  std::string_view name;   ///< "io-size"
  char letter = 0;         ///< 'p'; 0: none
  std::string_view value;  ///< "SIZE"; empty: a flag
  std::string_view help;
  bool ours = false;  ///< not the original's
};
std::span<const RbdOptionHelp> rbd_option_help();

}  // namespace cephmark
