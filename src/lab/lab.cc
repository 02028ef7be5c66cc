#include "lab/lab.h"

#include <fmt/format.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/fd.h"
#include "base/time.h"
#include "base/units.h"
#include "lab/lab_daemons.h"

namespace cephmark {
namespace {

void check_osd(int osd, int count) {
  if (osd < 0 || osd >= count)
    throw UsageError(fmt::format("the lab has no osd.{}: its OSDs are 0 to {}", osd, count - 1));
}

}  // namespace

std::string lab_directory(const std::string& directory) {
  const char* variable = std::getenv("CEPHMARK_LAB_DIR");
  std::string chosen = !directory.empty()      ? directory
                       : variable && *variable ? variable
                                               : state_directory() + "/lab";
  chosen = std::filesystem::absolute(chosen).lexically_normal();
  while (chosen.size() > 1 && chosen.back() == '/') chosen.pop_back();
  return chosen;
}

std::optional<Lab> Lab::find(const std::string& directory) {
  const std::string path = lab_directory(directory);
  std::optional<LabState> state = load_lab_state(path);
  if (!state) return std::nullopt;
  return Lab(path, std::move(*state));
}

Lab Lab::open(const std::string& directory) {
  std::optional<Lab> lab = find(directory);
  if (!lab)
    throw Error(fmt::format("there is no lab in {}", lab_directory(directory)),
                "'cephmark lab up' makes one");
  if (!lab->ready())
    throw Error(fmt::format("the lab in {} is only half made", lab->directory()),
                "'cephmark lab up' makes it anew, 'cephmark lab down' removes it");
  return std::move(*lab);
}

std::vector<LabDaemon> Lab::daemons() const {
  std::vector<LabDaemon> result;
  for (const std::string& name : LabDaemons::names(state_.setup)) {
    LabDaemon daemon{name};
    const auto found = state_.processes.find(name);
    if (found != state_.processes.end()) {
      daemon.state = process_state(found->second);
      if (daemon.state != ProcessState::kGone) daemon.pid = found->second.pid;
    }
    result.push_back(daemon);
  }
  return result;
}

pid_t Lab::pid(const std::string& daemon) const {
  for (const LabDaemon& entry : daemons())
    if (entry.name == daemon) return entry.pid;
  return 0;
}

Json Lab::ceph_json(const std::vector<std::string>& args, int64_t timeout_ns) const {
  LabState copy = state_;
  return LabDaemons(directory_, copy).ceph_json(args, timeout_ns);
}

ProcessId Lab::osd_process(int osd) const {
  check_osd(osd, osd_count());
  const auto found = state_.processes.find(fmt::format("osd.{}", osd));
  if (found == state_.processes.end() || process_state(found->second) == ProcessState::kGone)
    throw Error(fmt::format("osd.{} of the lab in {} does not run", osd, directory_),
                fmt::format("'cephmark lab osd start {}' starts it", osd));
  return found->second;
}

void Lab::pause_osd(int osd) {
  const ProcessId id = osd_process(osd);
  signal_process(id, SIGSTOP);
  // The signal takes effect a moment after kill() returns.
  for (const int64_t end_ns = monotonic_ns() + 10 * kNsPerSecond;
       process_state(id) == ProcessState::kRunning;)
    if (monotonic_ns() > end_ns)
      throw Error(fmt::format("osd.{} (pid {}) does not stop on SIGSTOP", osd, id.pid));
}

void Lab::resume_osd(int osd) {
  signal_process(osd_process(osd), SIGCONT);
}

void Lab::stop_osd(int osd, const LabProgress& say) {
  check_osd(osd, osd_count());
  const LabLock lock(directory_, say);
  *this = open(directory_);
  LabDaemons(directory_, state_).stop(fmt::format("osd.{}", osd), 30 * kNsPerSecond);
}

void Lab::start_osd(int osd, const LabProgress& say) {
  check_osd(osd, osd_count());
  const LabLock lock(directory_, say);
  *this = open(directory_);
  LabDaemons daemons(directory_, state_);
  daemons.start(fmt::format("osd.{}", osd));
  const auto is_up = [&] {
    if (!daemons.osd_is_active(osd)) return false;
    const Json dump = daemons.ceph_json({"osd", "dump"});
    for (const Json& entry : dump.at("osds"))
      if (entry.at("osd").get<int>() == osd) return entry.at("up").get<int>() == 1;
    return false;
  };
  const int64_t deadline_ns = monotonic_ns() + 120 * kNsPerSecond;
  while (!is_up()) {
    if (daemons.state_of(fmt::format("osd.{}", osd)) == ProcessState::kGone ||
        monotonic_ns() > deadline_ns)
      throw Error(fmt::format("osd.{} did not come up", osd),
                  fmt::format("its log is {}/log/osd.{}.log", directory_, osd));
    ::usleep(200'000);
  }
}

std::optional<std::string> lab_conf_if_running(const std::string& directory) {
  const std::optional<Lab> lab = Lab::find(directory);
  if (!lab || !lab->ready() || lab->pid("mon.a") == 0) return std::nullopt;
  return lab->conf_path();
}

std::string shape_text(const LabSetup& setup) {
  return fmt::format("{} OSD{} of {} ({}), {} replica{}", setup.osds, setup.osds == 1 ? "" : "s",
                     format_size(setup.osd_size_bytes), setup.store, setup.replicas,
                     setup.replicas == 1 ? "" : "s");
}

bool is_lab_conf(const std::string& conf) {
  const std::filesystem::path path(conf);
  std::error_code ignored;
  return path.filename() == "ceph.conf" &&
         std::filesystem::exists(path.parent_path() / kLabMarker, ignored);
}

std::map<std::string, std::string> lab_environment(const Lab& lab) {
  return {{"CEPH_CONF", lab.conf_path()},
          {"CEPH_ARGS", ""},
          {"CEPH_KEYRING", ""},
          {"CEPHMARK_LAB_DIR", lab.directory()}};
}

}  // namespace cephmark
