// safety_table: what each action may do to each kind of target in each state. Pure data and pure
// functions, any thread. docs/safety.md is rendered from it; the probes (image_state, device_state,
// file_state) say which states hold, the guard and the commands ask decide().
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cephmark {

enum class TargetKind : uint8_t {
  kRbdImage,
  kRadosObject,
  kFile,  ///< a regular file, or a path where one would be made
  kBlockDevice,
  kSystemPath,  ///< below /dev, /proc or /sys and not a block device; a pipe, socket or the like
  kDirectory,
};

/// One thing that is true of a target; a target may be in several states, the strictest decision
/// counts.
enum class TargetState : uint8_t {
  kMissing,
  kEmptyUntagged,  ///< nothing to lose: no data, no snapshots, no signature, not ours
  kDataUntagged,   ///< holds data that we did not write
  kOurs,           ///< tagged with its own id, or in our manifest
  kOursSnapshots,  ///< ours, and somebody made snapshots of it
  kTagOfAnother,   ///< carries a tag with another image's id: a clone or a copy
  kSnapshotsUntagged,
  kSnapshot,  ///< the target is itself a snapshot
  kForeignWatcher,
  kDeadWatcher,    ///< a watcher of a run of ours that has died
  kLiveRun,        ///< belongs to another run of cephmark that is alive
  kGeneratedName,  ///< exists under a name that a benchmark generates (test_file.N, job.N.M)
  kMounted,
  kChildMounted,  ///< a partition, or a dm or md device on top of it, is mounted or used as swap
  kHeld,          ///< opened exclusively, or part of a dm, md or loop device
  kOsdHolds,      ///< a running ceph-osd has it open
  kBlueStoreLabel,
  kPartitionTable,
  kFileSystem,
  kLvmLabel,
  kLuksHeader,
  kMdSuperblock,
  kReadOnly,  ///< the device or file cannot be written
  kUnknown,   ///< could not be examined
};

enum class Action : uint8_t { kReadJob, kWriteJob, kPrefill, kCreate, kRemove, kCleanup };

inline constexpr int kTargetKindCount = 6;
inline constexpr int kTargetStateCount = 24;
inline constexpr int kActionCount = 6;

/// From harmless to strict; the strictest of a target's states counts.
enum class Verdict : uint8_t {
  kAllowed,
  kTainted,    ///< done, and the result says why it is doubtful
  kAdopted,    ///< done, and the target becomes ours before the first write
  kWaitedFor,  ///< done once the state is gone; refused when it stays
  kRefused,
};

/// What the user granted for this very target.
struct TargetGrants {
  bool allow_write = false;  ///< --allow-write names it, or a pattern that covers it
};

struct Decision {
  Verdict verdict = Verdict::kRefused;
  std::string_view
      reason;             ///< continues "TARGET ...": "is mounted"; empty only when plainly allowed
  std::string_view hint;  ///< what to do about it; may be empty
  bool grant_lifts = false;  ///< refused now, and --allow-write for this target would lift it
  TargetState because = TargetState::kUnknown;
};

std::string_view target_kind_name(TargetKind kind);     ///< "rbd image"
std::string_view target_state_name(TargetState state);  ///< "mounted"
std::string_view action_name(Action action);            ///< "write job"
std::string_view verdict_name(Verdict verdict);         ///< "waited-for"

/// True when the state can occur for this kind of target at all.
bool state_applies(TargetKind kind, TargetState state);

/// Defined for every combination; one that cannot occur is refused.
Decision decide(TargetKind kind, TargetState state, Action action, TargetGrants grants);

/// The strictest decision over all states of one target (the first of equals); no state at all is
/// refused.
Decision decide_all(TargetKind kind, std::span<const TargetState> states, Action action,
                    TargetGrants grants);

/// docs/safety.md, whole.
std::string render_safety_table();

}  // namespace cephmark
