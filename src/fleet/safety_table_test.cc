#include "fleet/safety_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "base/fd.h"

namespace cephmark {
namespace {

constexpr TargetGrants kGranted{.allow_write = true};

template <typename Visit>
void for_all(Visit visit) {
  for (int k = 0; k < kTargetKindCount; ++k)
    for (int s = 0; s < kTargetStateCount; ++s)
      for (int a = 0; a < kActionCount; ++a)
        visit(static_cast<TargetKind>(k), static_cast<TargetState>(s), static_cast<Action>(a));
}

std::string describe(TargetKind kind, TargetState state, Action action) {
  return std::string(target_kind_name(kind)) + " / " + std::string(target_state_name(state)) +
         " / " + std::string(action_name(action));
}

bool changes(Action action) {
  return action != Action::kReadJob;
}

TEST(SafetyTable, EveryCombinationIsDefinedAndEveryRefusalSaysWhy) {
  for_all([](TargetKind kind, TargetState state, Action action) {
    for (const auto grants : {TargetGrants{}, kGranted}) {
      const auto decision = decide(kind, state, action, grants);
      if (decision.verdict != Verdict::kAllowed) {
        EXPECT_FALSE(decision.reason.empty()) << describe(kind, state, action);
      }
      if (!state_applies(kind, state)) {
        EXPECT_EQ(decision.verdict, Verdict::kRefused) << describe(kind, state, action);
      }
      EXPECT_EQ(decision.because, state);
    }
  });
}

TEST(SafetyTable, NamesAreUniqueAndComplete) {
  std::set<std::string_view> names;
  for (int s = 0; s < kTargetStateCount; ++s)
    names.insert(target_state_name(static_cast<TargetState>(s)));
  EXPECT_EQ(names.size(), static_cast<size_t>(kTargetStateCount));
  EXPECT_EQ(names.count(""), 0u);
  for (int s = 0; s < kTargetStateCount; ++s) {
    bool used = false;
    for (int k = 0; k < kTargetKindCount; ++k)
      used |= state_applies(static_cast<TargetKind>(k), static_cast<TargetState>(s));
    EXPECT_TRUE(used) << target_state_name(static_cast<TargetState>(s));
  }
}

TEST(SafetyTable, AGrantOnlyEverLiftsARefusalOfAWrite) {
  for_all([](TargetKind kind, TargetState state, Action action) {
    const auto plain = decide(kind, state, action, {});
    const auto granted = decide(kind, state, action, kGranted);
    EXPECT_LE(granted.verdict, plain.verdict) << describe(kind, state, action);
    if (granted.verdict != plain.verdict) {
      EXPECT_EQ(plain.verdict, Verdict::kRefused) << describe(kind, state, action);
      EXPECT_TRUE(plain.grant_lifts) << describe(kind, state, action);
      EXPECT_TRUE(action == Action::kWriteJob || action == Action::kPrefill)
          << describe(kind, state, action);
    } else {
      EXPECT_FALSE(plain.grant_lifts) << describe(kind, state, action);
    }
  });
}

TEST(SafetyTable, NothingLiftsTheRefusalForWhatIsInUseOrAnOsdsStore) {
  for (const auto state : {TargetState::kMounted, TargetState::kChildMounted, TargetState::kHeld,
                           TargetState::kOsdHolds, TargetState::kBlueStoreLabel,
                           TargetState::kForeignWatcher, TargetState::kLiveRun,
                           TargetState::kUnknown, TargetState::kReadOnly, TargetState::kSnapshot}) {
    for (int k = 0; k < kTargetKindCount; ++k)
      for (int a = 0; a < kActionCount; ++a) {
        const auto kind = static_cast<TargetKind>(k);
        const auto action = static_cast<Action>(a);
        if (!changes(action)) continue;
        EXPECT_EQ(decide(kind, state, action, kGranted).verdict, Verdict::kRefused)
            << describe(kind, state, action);
      }
  }
}

TEST(SafetyTable, RemovalTouchesOnlyWhatIsOurs) {
  for_all([](TargetKind kind, TargetState state, Action action) {
    if (action != Action::kRemove && action != Action::kCleanup) return;
    const auto verdict = decide(kind, state, action, kGranted).verdict;
    if (verdict == Verdict::kRefused) return;
    EXPECT_TRUE(state == TargetState::kOurs || state == TargetState::kMissing ||
                state == TargetState::kDeadWatcher)
        << describe(kind, state, action);
  });
}

TEST(SafetyTable, DataThatIsNotOursIsNeverWrittenWithoutAGrant) {
  for (const auto state :
       {TargetState::kDataUntagged, TargetState::kTagOfAnother, TargetState::kSnapshotsUntagged,
        TargetState::kPartitionTable, TargetState::kFileSystem, TargetState::kLvmLabel,
        TargetState::kLuksHeader, TargetState::kMdSuperblock}) {
    for (int k = 0; k < kTargetKindCount; ++k)
      for (const auto action : {Action::kWriteJob, Action::kPrefill})
        EXPECT_EQ(decide(static_cast<TargetKind>(k), state, action, {}).verdict, Verdict::kRefused)
            << describe(static_cast<TargetKind>(k), state, action);
  }
  EXPECT_EQ(decide(TargetKind::kBlockDevice, TargetState::kFileSystem, Action::kWriteJob, kGranted)
                .verdict,
            Verdict::kAllowed);
}

TEST(SafetyTable, NothingIsMadeBelowDevProcSys) {
  for (int a = 0; a < kActionCount; ++a)
    EXPECT_EQ(
        decide(TargetKind::kSystemPath, TargetState::kMissing, static_cast<Action>(a), kGranted)
            .verdict,
        Verdict::kRefused);
}

TEST(SafetyTable, TheStrictestStateOfATargetCounts) {
  const TargetState states[] = {TargetState::kOurs, TargetState::kForeignWatcher,
                                TargetState::kDeadWatcher};
  const auto decision = decide_all(TargetKind::kRbdImage, states, Action::kWriteJob, kGranted);
  EXPECT_EQ(decision.verdict, Verdict::kRefused);
  EXPECT_EQ(decision.because, TargetState::kForeignWatcher);

  const TargetState device[] = {TargetState::kFileSystem, TargetState::kMounted};
  const auto mounted = decide_all(TargetKind::kBlockDevice, device, Action::kWriteJob, {});
  EXPECT_EQ(mounted.because, TargetState::kMounted)
      << "the refusal that no grant lifts is the one to tell";
  EXPECT_FALSE(mounted.grant_lifts);

  EXPECT_EQ(decide_all(TargetKind::kFile, {}, Action::kWriteJob, kGranted).verdict,
            Verdict::kRefused);
}

TEST(SafetyTable, TheOrderOfStatesDoesNotChangeTheVerdict) {
  for_all([](TargetKind kind, TargetState first, Action action) {
    for (int s = 0; s < kTargetStateCount; ++s) {
      const TargetState forward[] = {first, static_cast<TargetState>(s)};
      const TargetState backward[] = {static_cast<TargetState>(s), first};
      for (const auto grants : {TargetGrants{}, kGranted}) {
        const auto a = decide_all(kind, forward, action, grants);
        const auto b = decide_all(kind, backward, action, grants);
        EXPECT_EQ(a.verdict, b.verdict) << describe(kind, first, action);
        EXPECT_EQ(a.grant_lifts, b.grant_lifts) << describe(kind, first, action);
      }
    }
  });
}

TEST(SafetyTable, DocsSafetyIsTheTable) {
  const std::string path = fmt::format("{}/docs/safety.md", CEPHMARK_SOURCE_DIR);
  if (std::getenv("CEPHMARK_UPDATE_DOCS")) write_file_atomically(path, render_safety_table());
  EXPECT_EQ(read_file(path), render_safety_table())
      << "regenerate it: CEPHMARK_UPDATE_DOCS=1 ctest -R SafetyTable";
}

}  // namespace
}  // namespace cephmark
