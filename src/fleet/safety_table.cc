#include "fleet/safety_table.h"

#include <array>

namespace cephmark {
namespace {

using K = TargetKind;
using S = TargetState;
using V = Verdict;

/// One cell: what happens without a grant, and whether --allow-write turns a refusal into
/// "allowed".
struct Cell {
  V verdict;
  bool liftable;
  std::string_view reason;
  std::string_view hint;
};

constexpr Cell allowed(std::string_view reason = "") {
  return {V::kAllowed, false, reason, ""};
}
constexpr Cell tainted(std::string_view reason) {
  return {V::kTainted, false, reason, ""};
}
constexpr Cell adopted(std::string_view reason) {
  return {V::kAdopted, false, reason, ""};
}
constexpr Cell waited(std::string_view reason) {
  return {V::kWaitedFor, false, reason, ""};
}
constexpr Cell never(std::string_view reason, std::string_view hint = "") {
  return {V::kRefused, false, reason, hint};
}
constexpr Cell unless_granted(std::string_view reason) {
  return {V::kRefused, true, reason, ""};
}

struct Row {
  K kind;
  S state;
  Cell read, write, prefill, create, remove, cleanup;

  constexpr const Cell& cell(Action action) const {
    switch (action) {
      case Action::kReadJob:
        return read;
      case Action::kWriteJob:
        return write;
      case Action::kPrefill:
        return prefill;
      case Action::kCreate:
        return create;
      case Action::kRemove:
        return remove;
      case Action::kCleanup:
        return cleanup;
    }
    return write;
  }
};

// Reasons that stand in several rows.
constexpr Cell kExists = never("exists already", "choose another name, or leave out the creation");
constexpr Cell kNotOurs = never("was not made by cephmark, which removes only what it made");
constexpr Cell kGone = allowed("is gone already");
constexpr Cell kNoImage =
    never("does not exist", "make it first: cephmark volumes create, or run --create SIZE");
constexpr Cell kAlive = never("belongs to another run of cephmark that is alive",
                              "wait for that run to end, or stop it");
constexpr Cell kNotExamined =
    never("could not be examined, and what cannot be examined is not overwritten or removed",
          "check permissions and caps of the user");

constexpr std::string_view kData = "holds data and does not carry cephmark's tag";
constexpr std::string_view kCopiedTag =
    "carries the tag of another image: it is a clone or a copy of a cephmark image, not one itself";
constexpr std::string_view kSnaps = "has snapshots and does not carry cephmark's tag";
constexpr Cell kWatched =
    never("is in use by another client (a watcher or a lock that is not of this run)",
          "stop that client (VM, mapping, other benchmark) first; no option lifts this");
constexpr std::string_view kDying =
    "still has the watcher of a dead run of cephmark (gone after about 30 s)";
constexpr Cell kSnapshotOnly = never("is a snapshot, which cannot be changed");

constexpr Cell kBusyRead = tainted("is in use by others while it is measured");
constexpr Cell kMountedNow =
    never("is mounted or used as swap", "unmount it (or swapoff) first; no option lifts this");
constexpr Cell kChildInUse =
    never("carries a partition or a dm or md device that is mounted or used as swap",
          "unmount that first; no option lifts this");
constexpr Cell kHeldNow = never("is held by another program or is part of a dm, md or loop device",
                                "release it first; no option lifts this");
constexpr Cell kOsdNow = never("is the store of a running ceph-osd", "no option lifts this");
constexpr Cell kBlueStore = never("carries a BlueStore label: it is, or was, the store of an OSD",
                                  "if that OSD is gone for good: ceph-volume lvm zap, or wipefs "
                                  "-a; no option of cephmark lifts this");
constexpr std::string_view kParts = "has a partition table";
constexpr std::string_view kFs = "has a file system or swap signature";
constexpr std::string_view kLvm = "is an LVM physical volume";
constexpr std::string_view kLuks = "has a LUKS header";
constexpr std::string_view kMd = "is a member of an md array";
constexpr Cell kCannotWrite = never("is read-only");
constexpr Cell kNoDeviceMaking = never("is a block device, which cephmark cannot make or remove");

/// A block device that may be read and, with --allow-write, written.
constexpr Row labelled(S state, std::string_view reason) {
  return {K::kBlockDevice,        state,           allowed(),       unless_granted(reason),
          unless_granted(reason), kNoDeviceMaking, kNoDeviceMaking, kNotOurs};
}
/// A target in use, of either kind: reads are tainted, nothing lifts the refusal.
constexpr Row busy(K kind, S state, Cell refusal) {
  return {kind, state, kBusyRead, refusal, refusal, refusal, refusal, refusal};
}

constexpr Cell kTypo = never("does not exist, and files are never made below /dev, /proc or /sys",
                             "check the name for a typo or an empty variable");
constexpr Cell kSystem = never("is part of /dev, /proc or /sys");
constexpr Cell kNotStorage = never("is neither a regular file nor a block device",
                                   "name a file, a block device, or use ioengine=null");
constexpr Cell kFolder = never("is a directory", "name a file in it, or use directory=");
constexpr Cell kNoFolder = never("is a directory that does not exist", "make it first");
constexpr std::string_view kWasThere = "was there before this run";
constexpr Cell kGenerated =
    allowed("exists under a name that benchmarks generate, and counts as ours");
constexpr Cell kLaidOut =
    allowed("does not exist: it is made, written to the manifest and removed afterwards");
constexpr Cell kUnwritten = tainted("has never been written: reads of it measure nothing");

constexpr auto kRows = std::to_array<Row>({
    // kind, state, read job, write job, prefill, create, remove, cleanup
    {K::kRbdImage, S::kMissing, kNoImage, kNoImage, kNoImage, allowed(), kGone, kGone},
    {K::kRbdImage, S::kEmptyUntagged, kUnwritten,
     adopted("is empty: it is tagged before the first write"),
     adopted("is empty: it is tagged before the first write"), kExists, kNotOurs, kNotOurs},
    {K::kRbdImage, S::kDataUntagged, allowed(), unless_granted(kData), unless_granted(kData),
     kExists, kNotOurs, kNotOurs},
    {K::kRbdImage, S::kOurs, allowed(), allowed(), allowed(),
     allowed("exists already and is ours: it is used as it is"), allowed(), allowed()},
    {K::kRbdImage, S::kOursSnapshots, allowed(),
     tainted("has snapshots: its first writes copy whole objects"), allowed(),
     allowed("exists already and is ours: it is used as it is"),
     never("has snapshots", "remove them first: rbd snap purge"),
     never("has snapshots", "remove them first: rbd snap purge")},
    {K::kRbdImage, S::kTagOfAnother, allowed(), unless_granted(kCopiedTag),
     unless_granted(kCopiedTag), kExists, never(kCopiedTag), never(kCopiedTag)},
    {K::kRbdImage, S::kSnapshotsUntagged, allowed(), unless_granted(kSnaps), unless_granted(kSnaps),
     kExists, kNotOurs, kNotOurs},
    {K::kRbdImage, S::kSnapshot, allowed(), kSnapshotOnly, kSnapshotOnly, kSnapshotOnly,
     kSnapshotOnly, kSnapshotOnly},
    busy(K::kRbdImage, S::kForeignWatcher, kWatched),
    {K::kRbdImage, S::kDeadWatcher, allowed(), waited(kDying), waited(kDying), allowed(),
     waited(kDying), waited(kDying)},
    busy(K::kRbdImage, S::kLiveRun, kAlive),
    {K::kRbdImage, S::kUnknown, tainted("could not be examined"), kNotExamined, kNotExamined,
     kNotExamined, kNotExamined, kNotExamined},

    {K::kRadosObject, S::kMissing, kLaidOut, kLaidOut, kLaidOut, allowed(), kGone, kGone},
    {K::kRadosObject, S::kDataUntagged, allowed(), unless_granted(kWasThere),
     unless_granted(kWasThere), kExists, kNotOurs, kNotOurs},
    {K::kRadosObject, S::kOurs, allowed(), allowed(), allowed(), allowed(), allowed(), allowed()},
    busy(K::kRadosObject, S::kLiveRun, kAlive),
    {K::kRadosObject, S::kUnknown, tainted("could not be examined"), kNotExamined, kNotExamined,
     kNotExamined, kNotExamined, kNotExamined},

    {K::kFile, S::kMissing, kLaidOut, kLaidOut, kLaidOut, allowed(), kGone, kGone},
    {K::kFile, S::kEmptyUntagged, never("is empty: there is nothing to read"),
     adopted("is empty: nothing can be lost"), adopted("is empty: nothing can be lost"), kExists,
     kNotOurs, kNotOurs},
    {K::kFile, S::kDataUntagged, allowed(), unless_granted(kWasThere), unless_granted(kWasThere),
     kExists, kNotOurs, kNotOurs},
    {K::kFile, S::kOurs, allowed(), allowed(), allowed(), allowed(), allowed(), allowed()},
    {K::kFile, S::kGeneratedName, allowed(), kGenerated, kGenerated, kGenerated, kNotOurs,
     kNotOurs},
    busy(K::kFile, S::kHeld, kHeldNow),
    busy(K::kFile, S::kOsdHolds, kOsdNow),
    {K::kFile, S::kBlueStoreLabel, allowed(), kBlueStore, kBlueStore, kBlueStore, kBlueStore,
     kBlueStore},
    busy(K::kFile, S::kLiveRun, kAlive),
    {K::kFile, S::kReadOnly, allowed(), kCannotWrite, kCannotWrite, kCannotWrite, kCannotWrite,
     kCannotWrite},
    {K::kFile, S::kUnknown, tainted("could not be examined"), kNotExamined, kNotExamined,
     kNotExamined, kNotExamined, kNotExamined},

    {K::kBlockDevice, S::kEmptyUntagged, allowed(),
     allowed("carries no signature and nobody uses it"),
     allowed("carries no signature and nobody uses it"), kNoDeviceMaking, kNoDeviceMaking,
     kNotOurs},
    {K::kBlockDevice, S::kOurs, allowed(), allowed(), allowed(), kNoDeviceMaking,
     allowed("is a mapping that cephmark made"), allowed("is a mapping that cephmark made")},
    busy(K::kBlockDevice, S::kMounted, kMountedNow),
    busy(K::kBlockDevice, S::kChildMounted, kChildInUse),
    busy(K::kBlockDevice, S::kHeld, kHeldNow),
    busy(K::kBlockDevice, S::kOsdHolds, kOsdNow),
    {K::kBlockDevice, S::kBlueStoreLabel, allowed(), kBlueStore, kBlueStore, kBlueStore, kBlueStore,
     kBlueStore},
    labelled(S::kPartitionTable, kParts),
    labelled(S::kFileSystem, kFs),
    labelled(S::kLvmLabel, kLvm),
    labelled(S::kLuksHeader, kLuks),
    labelled(S::kMdSuperblock, kMd),
    busy(K::kBlockDevice, S::kLiveRun, kAlive),
    {K::kBlockDevice, S::kReadOnly, allowed(), kCannotWrite, kCannotWrite, kNoDeviceMaking,
     kNoDeviceMaking, kNotOurs},
    {K::kBlockDevice, S::kUnknown, tainted("could not be examined"), kNotExamined, kNotExamined,
     kNoDeviceMaking, kNoDeviceMaking, kNotExamined},

    {K::kSystemPath, S::kMissing, kTypo, kTypo, kTypo, kTypo, kTypo, kTypo},
    {K::kSystemPath, S::kDataUntagged, kNotStorage, kNotStorage, kNotStorage, kNotStorage,
     kNotStorage, kNotStorage},
    {K::kSystemPath, S::kUnknown, kSystem, kSystem, kSystem, kSystem, kSystem, kSystem},

    {K::kDirectory, S::kMissing, kNoFolder, kNoFolder, kNoFolder, kNoFolder, kGone, kGone},
    {K::kDirectory, S::kDataUntagged, kFolder, kFolder, kFolder, kFolder, kNotOurs, kNotOurs},
    {K::kDirectory, S::kOurs, kFolder, kFolder, kFolder, kFolder,
     allowed("is removed when it is empty"), allowed("is removed when it is empty")},
    {K::kDirectory, S::kUnknown, kFolder, kFolder, kFolder, kFolder, kNotExamined, kNotExamined},
});

const Row* find_row(TargetKind kind, TargetState state) {
  for (const auto& row : kRows)
    if (row.kind == kind && row.state == state) return &row;
  return nullptr;
}

}  // namespace

bool state_applies(TargetKind kind, TargetState state) {
  return find_row(kind, state) != nullptr;
}

Decision decide(TargetKind kind, TargetState state, Action action, TargetGrants grants) {
  const Row* row = find_row(kind, state);
  if (!row)
    return {V::kRefused, "is in a state that this kind of target cannot have", "", false, state};
  const Cell& cell = row->cell(action);
  if (cell.verdict == V::kRefused && cell.liftable && grants.allow_write)
    return {V::kAllowed, "may be overwritten: --allow-write names it", "", false, state};
  return {cell.verdict, cell.reason, cell.hint, cell.liftable, state};
}

Decision decide_all(TargetKind kind, std::span<const TargetState> states, Action action,
                    TargetGrants grants) {
  if (states.empty()) return decide(kind, S::kUnknown, action, grants);
  Decision strictest = decide(kind, states[0], action, grants);
  for (const auto state : states.subspan(1)) {
    const Decision next = decide(kind, state, action, grants);
    // Of two refusals the one that no grant lifts is the one to tell.
    const bool firmer = next.verdict == V::kRefused && strictest.grant_lifts && !next.grant_lifts;
    if (next.verdict > strictest.verdict || firmer) strictest = next;
  }
  return strictest;
}

}  // namespace cephmark
