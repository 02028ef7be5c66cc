#include "fleet/file_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "base/error.h"
#include "base/fd.h"
#include "base/time.h"
#include "fleet/signatures.h"

namespace cephmark {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMoment_ns = 20 * kNsPerMs;

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

/// What may stand on a regular file, over the whole machine.
struct Holders {
  std::multimap<std::string, std::string> loops;  ///< backing file -> device
  std::set<std::string> swaps;
  std::map<std::pair<dev_t, ino_t>, std::set<int>> osds;
};

Holders find_holders(const SystemView& view) {
  Holders holders;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(view.sys + "/block", ignored)) {
    const fs::path backing = entry.path() / "loop/backing_file";
    if (!fs::exists(backing, ignored)) continue;
    std::string name = read_file(backing.string());
    while (!name.empty() && name.back() == '\n') name.pop_back();
    holders.loops.emplace(name, entry.path().filename().string());
  }
  for (const auto& mount : read_mounts(view))
    if (mount.point == "[swap]") holders.swaps.insert(mount.source);
  holders.osds = files_of_osds(view);
  return holders;
}

/// A run on a thousand files asks about all of them at once: the machine is looked over once for
/// what is asked within a moment.
std::shared_ptr<const Holders> holders_of(const SystemView& view) {
  if (view.proc != SystemView().proc || view.sys != SystemView().sys)
    return std::make_shared<Holders>(find_holders(view));
  static std::mutex mutex;
  static std::shared_ptr<const Holders> known;
  static int64_t known_at_ns = 0;
  const std::lock_guard lock(mutex);
  const int64_t now_ns = monotonic_ns();
  if (!known || now_ns - known_at_ns > kMoment_ns) {
    known = std::make_shared<Holders>(find_holders(view));
    known_at_ns = now_ns;
  }
  return known;
}

/// A file may be the store of a loop device, a swap area or the store of an OSD.
void examine_holders(const std::string& resolved, const struct stat& info, const SystemView& view,
                     StateReport& report) {
  const auto holders = holders_of(view);
  const auto [loop, last_loop] = holders->loops.equal_range(resolved);
  for (auto one = loop; one != last_loop; ++one)
    report.add(TargetState::kHeld, fmt::format("{} stands on it", one->second));
  if (holders->swaps.count(resolved) > 0) report.add(TargetState::kHeld, "it is used as swap");
  if (const auto osds = holders->osds.find({info.st_dev, info.st_ino}); osds != holders->osds.end())
    for (const int pid : osds->second)
      report.add(TargetState::kOsdHolds, fmt::format("ceph-osd, pid {}", pid));
}

void examine_file(const std::string& resolved, const struct stat& info,
                  const PathKnowledge& knowledge, const SystemView& view, StateReport& report) {
  const std::string name = fs::path(resolved).filename().string();
  if (knowledge.is_ours && knowledge.is_ours(resolved))
    report.add(TargetState::kOurs);
  else if (knowledge.name_generated || is_generated_name(name, knowledge.job_name))
    report.add(TargetState::kGeneratedName);
  else if (info.st_size == 0)
    report.add(TargetState::kEmptyUntagged);
  else
    report.add(TargetState::kDataUntagged, fmt::format("{} bytes", info.st_size));
  examine_holders(resolved, info, view, report);
  const UniqueFd fd(::open(resolved.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd)
    report.add(TargetState::kUnknown, fmt::format("cannot open it: {}", errno_text(errno)));
  else if (has_bluestore_label(fd.get()))
    report.add(TargetState::kBlueStoreLabel);
  if (::access(resolved.c_str(), W_OK) && errno != ENOENT)
    report.add(TargetState::kReadOnly, errno_text(errno));
}

}  // namespace

bool is_generated_name(const std::string& name, const std::string& job_name) {
  const auto last = name.rfind('.');
  if (last == std::string::npos || !all_digits(name.substr(last + 1))) return false;
  const std::string stem = name.substr(0, last);
  if (stem == "test_file") return true;
  if (job_name.empty() || !stem.starts_with(job_name + ".")) return false;
  return all_digits(stem.substr(job_name.size() + 1));
}

bool pattern_matches(const std::string& pattern, const std::string& text) {
  // Greedy with one point of return: linear for what people write.
  size_t p = 0, t = 0, star = std::string::npos, mark = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (star != std::string::npos) {
      p = star + 1;
      t = ++mark;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

PathState examine_path(const std::string& path, const PathKnowledge& knowledge,
                       const SystemView& view) {
  PathState state;
  state.resolved = resolve_path(path);
  struct stat info {};
  if (::stat(state.resolved.c_str(), &info)) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    state.kind = is_system_path(state.resolved) ? TargetKind::kSystemPath
                 : path.ends_with('/')          ? TargetKind::kDirectory
                                                : TargetKind::kFile;
    state.report.add(missing ? TargetState::kMissing : TargetState::kUnknown,
                     missing ? "" : errno_text(errno));
    return state;
  }
  try {
    if (S_ISBLK(info.st_mode)) {
      state.kind = TargetKind::kBlockDevice;
      state.report = examine_block_device(state.resolved, view);
    } else if (S_ISDIR(info.st_mode)) {
      state.kind = TargetKind::kDirectory;
      state.report.add(knowledge.is_ours && knowledge.is_ours(state.resolved)
                           ? TargetState::kOurs
                           : TargetState::kDataUntagged);
    } else if (is_system_path(state.resolved) || !S_ISREG(info.st_mode)) {
      state.kind = TargetKind::kSystemPath;
      state.report.add(TargetState::kDataUntagged);
    } else {
      examine_file(state.resolved, info, knowledge, view, state.report);
    }
  } catch (const Error& error) {
    state.report.add(TargetState::kUnknown, error.what());
  }
  return state;
}

}  // namespace cephmark
