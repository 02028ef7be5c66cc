// path_rules: where files may never be made. The one place of the rule: asked by the guard before a
// run (fleet/file_state) and again at the open (engine/file_target). Reads the file system only;
// any thread.
#pragma once

#include <string>

namespace cephmark {

/// True at and below /dev, /proc and /sys (the path is resolved). /dev/shm is a memory file system
/// for everybody's files: what lies below it is no kernel's.
bool is_system_path(const std::string& resolved);

/// Absolute path with the links followed as far as they exist, and that of a link whose target does
/// not exist: an open with O_CREAT would follow it. An empty path throws UsageError.
std::string resolve_path(const std::string& path);

}  // namespace cephmark
