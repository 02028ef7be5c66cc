#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/fd.h"
#include "base/time.h"
#include "base/units.h"
#include "lab/lab.h"
#include "lab/lab_build.h"
#include "lab/lab_conf.h"
#include "lab/lab_daemons.h"
#include "lab/lab_remove.h"
#include "lab/network.h"

namespace cephmark {
namespace {

namespace fs = std::filesystem;

constexpr int kDefaultOsds = 3, kDefaultReplicas = 3;
constexpr uint64_t kDefaultOsdSize = 4 * kGiB;
constexpr uint64_t kLeastOsdSize = 1 * kGiB;
constexpr uint64_t kOverhead = 1 * kGiB;  // monitor, logs, keys

uint64_t memory_bytes(const char* field) {
  const std::string text = read_file("/proc/meminfo");
  const size_t at = text.find(field);
  if (at == std::string::npos) return 0;
  return std::strtoull(text.c_str() + at + std::char_traits<char>::length(field), nullptr, 10) *
         kKiB;
}

std::string new_uuid() {
  std::string text = read_file("/proc/sys/kernel/random/uuid");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

void check_options(const LabOptions& options, int default_osds) {
  if (options.osds && (*options.osds < 1 || *options.osds > 32))
    throw UsageError(fmt::format("--osds {}: a lab has 1 to 32 OSDs", *options.osds));
  const int osds = options.osds.value_or(default_osds);
  if (options.replicas && (*options.replicas < 1 || *options.replicas > osds))
    throw UsageError(fmt::format("--replicas {}: with {} OSDs there can be 1 to {} replicas",
                                 *options.replicas, osds, osds));
  if (options.store && *options.store != "bluestore" && *options.store != "memstore")
    throw UsageError(fmt::format("--store {}: choose bluestore or memstore", *options.store));
  if (options.osd_size_bytes && *options.osd_size_bytes < kLeastOsdSize)
    throw UsageError(fmt::format("--osd-size {}: an OSD needs at least {}",
                                 format_size(*options.osd_size_bytes), format_size(kLeastOsdSize)));
  if (options.bind) check_own_address(*options.bind);
}

// An existing lab is what it is: asking for another one under its name is a mistake, not a wish to
// lose its data.
void check_same(const LabSetup& setup, const LabOptions& options, const std::string& directory) {
  const auto differs = [&](const std::string& option, const std::string& asked,
                           const std::string& has) {
    throw UsageError(
        fmt::format("the lab in {} was made with {} {}, not {}", directory, option, has, asked),
        "'cephmark lab down' removes it (and its data); --dir makes another one beside it");
  };
  if (options.osds && *options.osds != setup.osds)
    differs("--osds", std::to_string(*options.osds), std::to_string(setup.osds));
  if (options.replicas && *options.replicas != setup.replicas)
    differs("--replicas", std::to_string(*options.replicas), std::to_string(setup.replicas));
  if (options.store && *options.store != setup.store)
    differs("--store", *options.store, setup.store);
  if (options.osd_size_bytes && *options.osd_size_bytes != setup.osd_size_bytes)
    differs("--osd-size", format_size(*options.osd_size_bytes), format_size(setup.osd_size_bytes));
  if (options.bind && *options.bind != setup.bind) differs("--bind", *options.bind, setup.bind);
  if (options.cephfs && !setup.cephfs)
    throw UsageError(
        fmt::format("the lab in {} was made without --cephfs", directory),
        "'cephmark lab down' removes it (and its data); --dir makes another one beside it");
}

void check_space(const std::string& directory, const LabSetup& setup) {
  const uint64_t data = setup.osd_size_bytes * static_cast<uint64_t>(setup.osds);
  if (setup.store == "memstore") {
    const uint64_t available = memory_bytes("MemAvailable:");
    if (data > available)
      throw Error(fmt::format("{} OSDs of {} in memory need {}, but this machine has {} available",
                              setup.osds, format_size(setup.osd_size_bytes), format_size(data),
                              format_size(available)),
                  "choose a smaller --osd-size or fewer --osds");
    return;
  }
  struct statvfs space {};
  if (::statvfs(directory.c_str(), &space))
    throw Error(
        fmt::format("cannot ask for the free space of {}: {}", directory, errno_text(errno)));
  const uint64_t available = static_cast<uint64_t>(space.f_bavail) * space.f_frsize;
  if (data + kOverhead > available)
    throw Error(
        fmt::format(
            "{} OSDs of {} need {} with logs and keys, but the file system of {} has {} free",
            setup.osds, format_size(setup.osd_size_bytes), format_size(data + kOverhead), directory,
            format_size(available)),
        "choose a smaller --osd-size, fewer --osds, or --dir on another file system");
}

std::string choose_run_directory(const std::string& directory) {
  if (socket_path_fits(directory)) return directory + "/run";
  std::string pattern = "/tmp/cephmark-lab-XXXXXX";
  if (!::mkdtemp(pattern.data()))
    throw Error(fmt::format("cannot make a directory for the lab's sockets in /tmp: {}",
                            errno_text(errno)));
  return pattern;
}

LabState new_state(const std::string& directory, const LabOptions& options) {
  LabState state;
  LabSetup& setup = state.setup;
  setup.fsid = new_uuid();
  setup.osds = options.osds.value_or(kDefaultOsds);
  setup.replicas = options.replicas.value_or(std::min(kDefaultReplicas, setup.osds));
  setup.store = options.store.value_or("bluestore");
  setup.osd_size_bytes = options.osd_size_bytes.value_or(kDefaultOsdSize);
  setup.bind = options.bind.value_or("127.0.0.1");
  setup.cephfs = options.cephfs;
  setup.osd_memory_bytes = osd_memory_for(memory_bytes("MemTotal:"), setup.osds);
  for (int osd = 0; osd < setup.osds; ++osd) setup.osd_uuids.push_back(new_uuid());
  check_space(directory, setup);
  setup.run_directory = choose_run_directory(directory);
  return state;
}

void build(const std::string& directory, const LabOptions& options, const LabProgress& say) {
  LabState state = new_state(directory, options);
  save_lab_state(directory, state);
  LabDaemons lab(directory, state);
  say(fmt::format("making a lab in {}: {}", directory, shape_text(state.setup)));
  if (!is_loopback(state.setup.bind))
    say(fmt::format(
        "note: the cluster listens at {}, which other machines may reach; its keys guard it",
        state.setup.bind));
  try {
    build_lab(lab, say);
  } catch (...) {
    lab.kill_all();  // the logs stay for the reader of the error; the next up or down removes them
    throw;
  }
  state.ready = true;
  lab.save();
}

// Brings an existing lab back: whatever died is started, whatever is paused goes on.
bool mend(LabDaemons& lab, const LabProgress& say) {
  LabSetup& setup = lab.state().setup;
  std::vector<std::string> missing, paused;
  for (const std::string& name : LabDaemons::names(setup)) {
    const ProcessState state = lab.state_of(name);
    if (state == ProcessState::kGone) missing.push_back(name);
    if (state == ProcessState::kPaused) paused.push_back(name);
  }
  check_own_address(setup.bind);
  write_lab_conf(lab, setup);
  if (lab.state_of("mon.a") == ProcessState::kGone &&
      (!port_is_free(setup.bind, setup.mon_v2_port) ||
       !port_is_free(setup.bind, setup.mon_v1_port))) {
    say(fmt::format(
        "port {} or {} is taken by another program: the monitor moves, and all daemons start anew",
        setup.mon_v2_port, setup.mon_v1_port));
    for (const std::string& name : LabDaemons::names(setup)) lab.stop(name, 10 * kNsPerSecond);
    missing = LabDaemons::names(setup);
    paused.clear();
    move_monitor(lab);
  }
  for (const std::string& name : paused) say(fmt::format("{} was paused: it goes on", name));
  for (const std::string& name : paused) lab.start(name);
  for (const std::string& name : missing) {
    say(fmt::format("{} does not run: starting it", name));
    lab.state().processes.erase(name);
    lab.start(name);
    if (name == "mon.a") lab.wait_for_monitor();
  }
  lab.wait_for_monitor();
  lab.wait_for_osds();
  const Json map = lab.ceph_json({"osd", "stat"});
  if (map.at("num_in_osds").get<int>() < setup.osds)
    for (int osd = 0; osd < setup.osds; ++osd) lab.ceph({"osd", "in", std::to_string(osd)});
  lab.wait_for_clean();
  return !missing.empty() || !paused.empty();
}

/// OSDs that kept their data in memory and were not stopped, but died.
std::vector<std::string> lost_stores(const LabDaemons& lab, const LabState& state) {
  std::vector<std::string> lost;
  if (state.setup.store != "memstore") return lost;
  for (const auto& [name, process] : state.processes)
    if (name.starts_with("osd.") && lab.state_of(name) == ProcessState::kGone) lost.push_back(name);
  return lost;
}

LabOptions options_of(const LabSetup& setup) {
  LabOptions options;
  options.osds = setup.osds;
  options.replicas = setup.replicas;
  options.store = setup.store;
  options.osd_size_bytes = setup.osd_size_bytes;
  options.bind = setup.bind;
  options.cephfs = setup.cephfs;
  return options;
}

void make_lab_directory(const std::string& directory) {
  try {
    make_directories(directory);
  } catch (const Error& error) {
    throw Error(error.what(), "choose a place of yours with --dir");
  }
  if (::access(directory.c_str(), W_OK | X_OK))
    throw Error(fmt::format("cannot write in {}: {}", directory, errno_text(errno)),
                "choose a place of yours with --dir");
  // Keys lie in it.
  if (fs::is_empty(directory)) ::chmod(directory.c_str(), 0700);
}

}  // namespace

Lab lab_up(const std::string& given, const LabOptions& options, const LabProgress& report) {
  const LabProgress say = report ? report : [](const std::string&) {};
  const std::string directory = lab_directory(given);
  check_lab_path(directory);
  const std::optional<Lab> existing = Lab::find(directory);
  check_options(options, existing && existing->ready() ? existing->osd_count() : kDefaultOsds);
  check_lab_programs(options.cephfs);
  make_lab_directory(directory);
  const LabLock lock(directory, say);
  std::optional<LabState> state = load_lab_state(directory);
  if (!state && !fs::is_empty(directory))
    throw Error(fmt::format("{} has files in it and is not a lab: it stays as it is", directory),
                "choose an empty or a new directory with --dir");
  if (state && state->ready) {
    check_same(state->setup, options, directory);
    LabDaemons lab(directory, *state);
    const std::vector<std::string> lost = lost_stores(lab, *state);
    // As long as one copy of each object is left, the cluster restores the others.
    if (static_cast<int>(lost.size()) < state->setup.replicas) {
      if (mend(lab, say)) say("the lab is mended");
      return Lab::open(directory);
    }
    say(
        fmt::format("{} died with the only copies of data, which were in memory: the lab is made "
                    "anew, empty",
                    fmt::join(lost, ", ")));
    const LabOptions same = options_of(state->setup);
    remove_lab_content(directory, *state, say);
    build(directory, same, say);
    return Lab::open(directory);
  }
  if (state) {
    say("an earlier 'lab up' did not get to its end: starting afresh");
    remove_lab_content(directory, *state, say);
  }
  build(directory, options, say);
  return Lab::open(directory);
}

}  // namespace cephmark
