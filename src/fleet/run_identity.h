// RunIdentity: which process on which machine a run is, told so that another process can find out
// later whether it is still alive. Plain data. Any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"

namespace cephmark {

struct RunIdentity {
  std::string run_id;   ///< "20261130-141502-volumes-3f9a"
  std::string host;     ///< uname's node name
  std::string boot_id;  ///< /proc/sys/kernel/random/boot_id
  int pid = 0;
  uint64_t pid_start = 0;  ///< field 22 of /proc/PID/stat: ticks since boot
  int64_t started_wall_ns = 0;
};

/// This process, now. The host is the machine's name, or $CEPHMARK_HOST where that is set
/// (containers).
RunIdentity current_run_identity(const std::string& run_id);
/// "20261130-141502-<what>-3f9a".
std::string make_run_id(const std::string& what);
std::string local_host_name();

enum class Liveness : uint8_t { kAlive, kDead, kOtherHost };
/// Dead when the process is gone, its pid was given to another one, or the machine was booted
/// since.
Liveness liveness_of(const RunIdentity& identity);
bool is_this_process(const RunIdentity& identity);

Json to_json(const RunIdentity& identity);
RunIdentity run_identity_from(const Json& json);

}  // namespace cephmark
