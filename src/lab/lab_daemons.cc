#include "lab/lab_daemons.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "base/fd.h"
#include "base/time.h"
#include "lab/lab_conf.h"

namespace cephmark {
namespace {

std::string last_lines(const std::string& path, size_t bytes) {
  std::string text;
  try {
    text = read_file(path);
  } catch (const Error&) {
    return "";
  }
  if (text.size() > bytes) text = "..." + text.substr(text.size() - bytes);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

/// By OSD: the epoch of the map in which it came up last.
std::map<int, uint64_t> up_from_epochs(const Json& osd_dump) {
  std::map<int, uint64_t> epochs;
  for (const Json& osd : osd_dump.at("osds"))
    if (osd.at("up").get<int>()) epochs[osd.at("osd").get<int>()] = osd.at("up_from");
  return epochs;
}

/// The manager's statistics lag behind: a group may still be called clean by an OSD that has died.
bool is_clean_since(const Json& group, const std::map<int, uint64_t>& up_from) {
  if (group.at("state") != "active+clean") return false;
  const Json& epoch = group.at("reported_epoch");  // a text in older versions
  const uint64_t reported =
      epoch.is_string() ? std::stoull(epoch.get<std::string>()) : epoch.get<uint64_t>();
  return std::all_of(group.at("acting").begin(), group.at("acting").end(), [&](const Json& osd) {
    const auto since = up_from.find(osd.get<int>());
    return since != up_from.end() && reported >= since->second;
  });
}

}  // namespace

void check_lab_programs(bool cephfs) {
  // Debian's and Ubuntu's packages.
  std::vector<std::pair<const char*, const char*>> wanted = {
      {"ceph-mon", "ceph-mon"},   {"ceph-mgr", "ceph-mgr"},         {"ceph-osd", "ceph-osd"},
      {"ceph", "ceph-common"},    {"ceph-authtool", "ceph-common"}, {"rbd", "ceph-common"},
      {"monmaptool", "ceph-base"}};
  if (cephfs) wanted.emplace_back("ceph-mds", "ceph-mds");
  std::vector<std::string> programs, packages;
  for (const auto& [program, package] : wanted) {
    if (!find_program(program).empty()) continue;
    programs.emplace_back(program);
    if (std::find(packages.begin(), packages.end(), package) == packages.end())
      packages.emplace_back(package);
  }
  if (programs.empty()) return;
  throw Error(fmt::format("the lab needs {}, which {} not on PATH", fmt::join(programs, ", "),
                          programs.size() == 1 ? "is" : "are"),
              fmt::format("on Debian or Ubuntu: apt install {}", fmt::join(packages, " ")));
}

std::vector<std::string> LabDaemons::names(const LabSetup& setup) {
  std::vector<std::string> result = {"mon.a", "mgr.x"};
  for (int osd = 0; osd < setup.osds; ++osd) result.push_back(fmt::format("osd.{}", osd));
  if (setup.cephfs) result.emplace_back("mds.a");
  return result;
}

ProcessState LabDaemons::state_of(const std::string& daemon) const {
  const auto found = state_.processes.find(daemon);
  return found == state_.processes.end() ? ProcessState::kGone : process_state(found->second);
}

void LabDaemons::start(const std::string& daemon) {
  const ProcessState now = state_of(daemon);
  if (now == ProcessState::kPaused) signal_process(state_.processes[daemon], SIGCONT);
  if (now != ProcessState::kGone) return;
  const size_t dot = daemon.find('.');
  DaemonSpec spec;
  spec.argv = {"ceph-" + daemon.substr(0, dot), "-f", "--cluster", "ceph", "-c", conf_path(), "-i",
               daemon.substr(dot + 1)};
  spec.output_path = fmt::format("{}/log/{}.out", directory_, daemon);
  for (const char* name : {"PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "TZ", "TMPDIR"})
    if (const char* value = std::getenv(name)) spec.environment[name] = value;
  spec.environment["HOME"] = directory_;
  spec.environment["CEPHMARK_LAB_DIR"] = directory_;
  start_daemon(spec, [&](const ProcessId& id) {
    state_.processes[daemon] = id;
    save();
  });
}

void LabDaemons::stop(const std::string& daemon, int64_t grace_ns) {
  const auto found = state_.processes.find(daemon);
  if (found == state_.processes.end()) return;
  const ProcessId id = found->second;
  if (process_state(id) == ProcessState::kPaused) signal_process(id, SIGCONT);
  if (signal_process(id, SIGTERM) && !wait_process_gone(id, grace_ns)) {
    signal_process(id, SIGKILL);
    if (!wait_process_gone(id, 30 * kNsPerSecond))
      throw Error(fmt::format("{} (pid {}) does not end, not even by SIGKILL", daemon, id.pid),
                  "it waits for the kernel, perhaps for a disk: see its stack in /proc/PID/stack");
  }
  state_.processes.erase(daemon);
  save();
}

void LabDaemons::kill_all() {
  for (const auto& [name, id] : state_.processes) signal_process(id, SIGKILL);
  for (const auto& [name, id] : state_.processes)
    if (!wait_process_gone(id, 30 * kNsPerSecond))
      throw Error(fmt::format("{} (pid {}) does not end, not even by SIGKILL", name, id.pid),
                  "it waits for the kernel, perhaps for a disk; try again later");
  state_.processes.clear();
  save();
}

std::string LabDaemons::tool(const std::vector<std::string>& argv, const std::string& input,
                             int64_t timeout_ns) const {
  CommandOptions options;
  options.input = input;
  options.timeout_ns = timeout_ns;
  // What the caller's environment says about another cluster must not reach ours.
  options.environment = {{"CEPH_CONF", conf_path()}, {"CEPH_ARGS", ""}, {"HOME", directory_}};
  if (std::getenv("CEPH_KEYRING")) options.environment["CEPH_KEYRING"] = directory_ + "/keyring";
  return run_or_throw(argv, options);
}

std::string LabDaemons::ceph(const std::vector<std::string>& args, int64_t timeout_ns) const {
  std::vector<std::string> argv = {"ceph",
                                   "-c",
                                   conf_path(),
                                   "-n",
                                   "client.admin",
                                   "--connect-timeout",
                                   std::to_string(std::max<int64_t>(1, timeout_ns / kNsPerSecond))};
  argv.insert(argv.end(), args.begin(), args.end());
  return tool(argv, "", timeout_ns + 5 * kNsPerSecond);
}

Json LabDaemons::ceph_json(std::vector<std::string> args, int64_t timeout_ns) const {
  const std::string what = fmt::format("the answer to 'ceph {}'", fmt::join(args, " "));
  args.insert(args.end(), {"-f", "json"});
  return parse_json(ceph(args, timeout_ns), what);
}

void LabDaemons::wait_for(const std::string& what, int64_t timeout_ns,
                          const std::function<bool()>& done) const {
  const int64_t deadline_ns = monotonic_ns() + timeout_ns;
  std::string trouble;  // what a tool of Ceph's said last: a daemon that starts may not answer yet
  const auto is_done = [&] {
    try {
      return done();
    } catch (const Error& error) {
      trouble = fmt::format(": {}", error.what());
      return false;
    }
  };
  while (!is_done()) {
    for (const auto& [name, id] : state_.processes)
      if (process_state(id) == ProcessState::kGone)
        throw Error(fmt::format("{} ended unexpectedly:\n{}", name,
                                last_lines(fmt::format("{}/log/{}.out", directory_, name), 1500)),
                    fmt::format("its log is {}/log/{}.log", directory_, name));
    if (monotonic_ns() > deadline_ns)
      throw Error(fmt::format("the lab's cluster did not {} within {} s{}", what,
                              timeout_ns / kNsPerSecond, trouble),
                  fmt::format("see the logs in {}/log", directory_));
    ::usleep(200'000);
  }
}

void LabDaemons::wait_for_monitor() const {
  wait_for("get a monitor that answers", 60 * kNsPerSecond, [&] {
    try {
      ceph({"mon", "stat"}, 5 * kNsPerSecond);
      return true;
    } catch (const Error&) {
      return false;
    }
  });
}

bool LabDaemons::osd_is_active(int osd) const {
  const std::string socket = fmt::format("{}/osd.{}.asok", state_.setup.run_directory, osd);
  try {
    const std::string answer =
        tool({"ceph", "--admin-daemon", socket, "status"}, "", 10 * kNsPerSecond);
    return parse_json(answer, socket).at("state") == "active";
  } catch (const Error&) {
    return false;  // it is not there yet
  }
}

void LabDaemons::wait_for_osds() const {
  int known = 0;  // OSDs that have said themselves that they are active
  wait_for("get all its OSDs up", 120 * kNsPerSecond, [&] {
    while (known < state_.setup.osds && osd_is_active(known)) ++known;
    if (known < state_.setup.osds) return false;
    return ceph_json({"osd", "stat"}).at("num_up_osds").get<int>() >= state_.setup.osds;
  });
}

void LabDaemons::wait_for_clean() const {
  wait_for("become active+clean", 300 * kNsPerSecond, [&] {
    // The epochs first: what a placement group reports after them is of this start of its OSDs.
    const auto up_from = up_from_epochs(ceph_json({"osd", "dump"}));
    const Json dump = ceph_json({"pg", "dump", "pgs"});
    const Json& groups = dump.is_array() ? dump : dump.at("pg_stats");
    if (static_cast<int>(groups.size()) < lab_pg_num(state_.setup.osds)) return false;
    if (!std::all_of(groups.begin(), groups.end(),
                     [&](const Json& group) { return is_clean_since(group, up_from); }))
      return false;
    // The monitors hear of it from the manager, up to some seconds later: what `ceph status` says
    // is to be true, too.
    const Json status = ceph_json({"status"});
    size_t told_clean = 0;
    for (const Json& state : status.at("pgmap").at("pgs_by_state"))
      if (state.at("state_name").get<std::string>().starts_with("active+clean"))
        told_clean += state.at("count").get<size_t>();
    return told_clean >= groups.size();
  });
}

}  // namespace cephmark
