// The names of the safety table's parts, and its rendering as docs/safety.md.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "fleet/safety_table.h"

namespace cephmark {
namespace {

constexpr std::array<std::string_view, kTargetKindCount> kKindNames = {
    "rbd image", "rados object", "file", "block device", "path in /dev, /proc, /sys; pipe, socket",
    "directory"};
constexpr std::array<std::string_view, kTargetStateCount> kStateNames = {
    "missing",
    "empty, untagged",
    "data, untagged",
    "ours",
    "ours, with snapshots",
    "tag of another image",
    "snapshots, untagged",
    "is a snapshot",
    "foreign watcher",
    "watcher of a dead run of ours",
    "of a live run of ours",
    "generated name",
    "mounted",
    "child mounted",
    "held",
    "held by a running OSD",
    "BlueStore label",
    "partition table",
    "file system or swap",
    "LVM label",
    "LUKS header",
    "md superblock",
    "read-only",
    "cannot be examined"};
constexpr std::array<std::string_view, kActionCount> kActionNames = {
    "read job", "write job", "prefill", "create", "remove", "cleanup"};
constexpr std::array<std::string_view, 5> kVerdictNames = {"allowed", "tainted", "adopted",
                                                           "waited-for", "refused"};

constexpr std::string_view kHead = R"(# What cephmark may do to what

<!-- Generated from src/fleet/safety_table.cc. A test compares; CEPHMARK_UPDATE_DOCS=1 ctest -R SafetyTable rewrites. -->

Before the first write every target of a run is examined. A target may be in several states at once; the strictest
decision counts. If one target is refused, nothing is written to any of them, and one message lists all refusals.

- **allowed**: done.
- **tainted**: done, and the result says why it is doubtful.
- **adopted**: done, and the target becomes ours (an image is tagged) before the first write.
- **waited-for**: done once the state is gone; refused when it stays.
- **refused**: not done. No option lifts this.
- **refused\***: not done, unless that very target, or a pattern that covers it, is named with `--allow-write TARGET`.

An image is *ours* when its metadata key `cephmark.tag` holds the image's own id. Clones and copies inherit metadata, so a
tag with another image's id does not count. A file or object is *ours* when a manifest of ours lists it.
Device states hold for a regular file that backs a loop device, too.

What a run makes is written to its manifest first. At its end images of `--create --remove`, objects of rados jobs (unless
`keep_objects=1`) and files under generated names (`JOB.N.M`) are removed; `--keep-files` keeps the files, as fio does. A file
that the user named (`filename=`) and that did not exist stays, unless the run came to no result. What was there before is
never removed. What could not be undone stays in the manifest, for `cephmark cleanup`.
)";

void add_reasons(std::string& text, TargetKind kind) {
  std::vector<std::pair<std::string_view, std::string_view>> seen;
  for (int s = 0; s < kTargetStateCount; ++s) {
    for (int a = 0; a < kActionCount; ++a) {
      const auto decision = decide(kind, static_cast<TargetState>(s), static_cast<Action>(a), {});
      const std::pair entry{target_state_name(static_cast<TargetState>(s)), decision.reason};
      if (!state_applies(kind, static_cast<TargetState>(s)) || decision.reason.empty()) continue;
      if (std::find(seen.begin(), seen.end(), entry) != seen.end()) continue;
      seen.push_back(entry);
      text += fmt::format("- {}: it {}{}{}\n", entry.first, entry.second,
                          decision.hint.empty() ? "" : " -> ", decision.hint);
    }
  }
}

}  // namespace

std::string_view target_kind_name(TargetKind kind) {
  return kKindNames[static_cast<int>(kind)];
}
std::string_view target_state_name(TargetState state) {
  return kStateNames[static_cast<int>(state)];
}
std::string_view action_name(Action action) {
  return kActionNames[static_cast<int>(action)];
}
std::string_view verdict_name(Verdict verdict) {
  return kVerdictNames[static_cast<int>(verdict)];
}

std::string render_safety_table() {
  std::string text(kHead);
  for (int k = 0; k < kTargetKindCount; ++k) {
    const auto kind = static_cast<TargetKind>(k);
    text += fmt::format("\n## {}\n\n| state |", target_kind_name(kind));
    for (const auto action : kActionNames) text += fmt::format(" {} |", action);
    text += "\n|---|";
    for (int a = 0; a < kActionCount; ++a) text += "---|";
    text += "\n";
    for (int s = 0; s < kTargetStateCount; ++s) {
      const auto state = static_cast<TargetState>(s);
      if (!state_applies(kind, state)) continue;
      text += fmt::format("| {} |", target_state_name(state));
      for (int a = 0; a < kActionCount; ++a) {
        const auto decision = decide(kind, state, static_cast<Action>(a), {});
        text += fmt::format(" {}{} |", verdict_name(decision.verdict),
                            decision.grant_lifts ? "\\*" : "");
      }
      text += "\n";
    }
    text += "\n";
    add_reasons(text, kind);
  }
  return text;
}

}  // namespace cephmark
