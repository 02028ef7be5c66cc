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
  while (!done()) {
    for (const auto& [name, id] : state_.processes)
      if (process_state(id) == ProcessState::kGone)
        throw Error(fmt::format("{} ended unexpectedly:\n{}", name,
                                last_lines(fmt::format("{}/log/{}.out", directory_, name), 1500)),
                    fmt::format("its log is {}/log/{}.log", directory_, name));
    if (monotonic_ns() > deadline_ns)
      throw Error(
          fmt::format("the lab's cluster did not {} within {} s", what, timeout_ns / kNsPerSecond),
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

void LabDaemons::wait_for_osds() const {
  wait_for("get all its OSDs up", 120 * kNsPerSecond, [&] {
    const Json map = ceph_json({"osd", "stat"});
    return map.at("num_up_osds").get<int>() >= state_.setup.osds;
  });
}

void LabDaemons::wait_for_clean(int looks) const {
  int seen = 0;
  wait_for("become active+clean", 300 * kNsPerSecond, [&] {
    const Json status = ceph_json({"status"});
    const Json& map = status.at("pgmap");
    const int total = map.at("num_pgs").get<int>();
    int clean = 0;
    const Json states = map.value("pgs_by_state", Json::array());
    for (const Json& entry : states)
      if (entry.at("state_name").get<std::string>() == "active+clean")
        clean = entry.at("count").get<int>();
    seen = total >= lab_pg_num(state_.setup.osds) && clean == total ? seen + 1 : 0;
    if (seen && seen < looks) ::usleep(1'000'000);
    return seen >= looks;
  });
}

}  // namespace cephmark
