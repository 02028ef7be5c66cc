#include "fleet/file_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/error.h"
#include "base/fd.h"
#include "fleet/signatures.h"

namespace cephmark {
namespace {

namespace fs = std::filesystem;

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

/// A file may be the store of a loop device, or a swap area: then a device stands on it.
void examine_backing(const std::string& resolved, const SystemView& view, StateReport& report) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(view.sys + "/block", ignored)) {
    const fs::path backing = entry.path() / "loop/backing_file";
    if (!fs::exists(backing, ignored)) continue;
    std::string name = read_file(backing.string());
    while (!name.empty() && name.back() == '\n') name.pop_back();
    if (name == resolved)
      report.add(TargetState::kHeld,
                 fmt::format("{} stands on it", entry.path().filename().string()));
  }
  for (const auto& mount : read_mounts(view))
    if (mount.point == "[swap]" && mount.source == resolved)
      report.add(TargetState::kHeld, "it is used as swap");
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
  examine_backing(resolved, view, report);
  for (const int pid : osds_holding({}, info.st_dev, info.st_ino, view))
    report.add(TargetState::kOsdHolds, fmt::format("ceph-osd, pid {}", pid));
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
