// file_state: what stands under a path: a file, a device, a directory, something in /dev, /proc or
// /sys, or nothing; and the states that hold of it. Reads only. Any thread.
#pragma once

#include <functional>
#include <string>

#include "engine/path_rules.h"
#include "fleet/device_state.h"

namespace cephmark {

/// What the caller knows of a path beyond what the file system tells.
struct PathKnowledge {
  bool name_generated =
      false;             ///< the engine made the name up (fio's job.N.M), the user did not give it
  std::string job_name;  ///< a given name that equals what this job would generate counts the same
  std::function<bool(const std::string& resolved)>
      is_ours;  ///< a manifest of ours lists it; may be empty
};

struct PathState {
  TargetKind kind = TargetKind::kFile;
  std::string resolved;  ///< absolute, symbolic links followed as far as they exist
  StateReport report;
};

/// Examines a path of any kind. Never throws for what it cannot see: that is kUnknown.
PathState examine_path(const std::string& path, const PathKnowledge& knowledge = {},
                       const SystemView& view = {});

/// sysbench's test_file.N, or fio's JOB.N.M when `job_name` is given. `name` is a base name.
bool is_generated_name(const std::string& name, const std::string& job_name);

/// Patterns of --allow-write: * and ? match any characters (also '/'). Either text may be a plain
/// name.
bool pattern_matches(const std::string& pattern, const std::string& text);

}  // namespace cephmark
