#include "engine/path_rules.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "base/error.h"

namespace cephmark {

bool is_system_path(const std::string& resolved) {
  static constexpr std::array<std::string_view, 3> kRoots = {"/dev", "/proc", "/sys"};
  if (resolved.starts_with("/dev/shm/")) return false;
  return std::any_of(kRoots.begin(), kRoots.end(), [&](std::string_view root) {
    return resolved == root || (resolved.starts_with(root) && resolved[root.size()] == '/');
  });
}

std::string resolve_path(const std::string& path) {
  namespace fs = std::filesystem;
  if (path.empty()) throw UsageError("an empty file name", "check for an empty variable");
  std::error_code error;
  fs::path resolved = fs::absolute(path, error);
  for (int links = 0; links < 40; ++links) {
    const fs::path next = fs::weakly_canonical(resolved, error);
    if (error) return resolved.lexically_normal().string();
    resolved = next;
    if (!fs::is_symlink(fs::symlink_status(resolved, error))) break;
    resolved = resolved.parent_path() / fs::read_symlink(resolved, error);
  }
  std::string text = resolved.string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

}  // namespace cephmark
