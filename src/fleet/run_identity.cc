#include "fleet/run_identity.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <random>
#include <sstream>

#include "base/error.h"
#include "base/fd.h"
#include "base/host_name.h"
#include "base/time.h"

namespace cephmark {
namespace {

/// 0 when there is no such process. The command name in field 2 may hold spaces and brackets.
uint64_t start_ticks(int pid) {
  std::string text;
  try {
    text = read_file(fmt::format("/proc/{}/stat", pid));
  } catch (const Error&) {
    return 0;
  }
  const auto close = text.rfind(')');
  if (close == std::string::npos) return 0;
  std::istringstream fields(text.substr(close + 1));
  std::string word;
  fields >> word;
  if (word == "Z" || word == "X") return 0;  // dead, only not yet waited for
  for (int field = 4; field < 22; ++field) fields >> word;
  uint64_t ticks = 0;
  fields >> ticks;
  return ticks;
}

std::string boot_id() {
  std::string text = read_file("/proc/sys/kernel/random/boot_id");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

std::string local_host_name() {
  if (const char* name = std::getenv("CEPHMARK_HOST"); name && *name) return name;
  return host_name();
}

std::string make_run_id(const std::string& what) {
  const std::time_t now = wall_ns() / kNsPerSecond;
  std::tm parts{};
  localtime_r(&now, &parts);
  char time[32];
  std::strftime(time, sizeof time, "%Y%m%d-%H%M%S", &parts);
  return fmt::format("{}-{}-{:04x}", time, what, std::random_device{}() & 0xffff);
}

RunIdentity current_run_identity(const std::string& run_id) {
  return {run_id, local_host_name(), boot_id(), ::getpid(), start_ticks(::getpid()), wall_ns()};
}

Liveness liveness_of(const RunIdentity& identity) {
  if (identity.host != local_host_name()) return Liveness::kOtherHost;
  if (identity.boot_id != boot_id()) return Liveness::kDead;
  const uint64_t ticks = start_ticks(identity.pid);
  return ticks && ticks == identity.pid_start ? Liveness::kAlive : Liveness::kDead;
}

bool is_this_process(const RunIdentity& identity) {
  return identity.host == local_host_name() && identity.boot_id == boot_id() &&
         identity.pid == ::getpid() && identity.pid_start == start_ticks(::getpid());
}

Json to_json(const RunIdentity& identity) {
  return {{"run", identity.run_id},          {"host", identity.host},
          {"boot", identity.boot_id},        {"pid", identity.pid},
          {"pid_start", identity.pid_start}, {"started_ns", identity.started_wall_ns}};
}

RunIdentity run_identity_from(const Json& json) {
  return {json.value("run", ""),
          json.value("host", ""),
          json.value("boot", ""),
          json.value("pid", 0),
          json.value("pid_start", uint64_t{0}),
          json.value("started_ns", int64_t{0})};
}

}  // namespace cephmark
