#include "lab/lab_state.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "base/error.h"
#include "base/time.h"

namespace cephmark {
namespace {

constexpr int kSchema = 1;
constexpr int64_t kLockWaitNs = 120 * kNsPerSecond;

bool same_directory(int fd, const std::string& path) {
  struct stat held {
  }, named{};
  return ::fstat(fd, &held) == 0 && ::stat(path.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

}  // namespace

Json to_json(const LabState& state) {
  const LabSetup& setup = state.setup;
  Json processes = Json::object();
  for (const auto& [name, id] : state.processes)
    processes[name] = {{"pid", id.pid}, {"start_ticks", id.start_ticks}, {"boot_id", id.boot_id}};
  return {{"schema", kSchema},
          {"about", "a Ceph cluster made by cephmark lab; remove it with 'cephmark lab down'"},
          {"ready", state.ready},
          {"ceph_version", state.ceph_version},
          {"fsid", setup.fsid},
          {"bind", setup.bind},
          {"store", setup.store},
          {"osds", setup.osds},
          {"replicas", setup.replicas},
          {"osd_size_bytes", setup.osd_size_bytes},
          {"osd_memory_bytes", setup.osd_memory_bytes},
          {"cephfs", setup.cephfs},
          {"mon_v2_port", setup.mon_v2_port},
          {"mon_v1_port", setup.mon_v1_port},
          {"run_directory", setup.run_directory},
          {"osd_uuids", setup.osd_uuids},
          {"processes", processes}};
}

LabState lab_state_from_json(const Json& json, const std::string& what) {
  LabState state;
  try {
    if (json.at("schema").get<int>() != kSchema)
      throw Error(fmt::format("{} was written by another version of cephmark", what),
                  "take the lab down with the version that made it");
    LabSetup& setup = state.setup;
    json.at("ready").get_to(state.ready);
    json.at("ceph_version").get_to(state.ceph_version);
    json.at("fsid").get_to(setup.fsid);
    json.at("bind").get_to(setup.bind);
    json.at("store").get_to(setup.store);
    json.at("osds").get_to(setup.osds);
    json.at("replicas").get_to(setup.replicas);
    json.at("osd_size_bytes").get_to(setup.osd_size_bytes);
    json.at("osd_memory_bytes").get_to(setup.osd_memory_bytes);
    json.at("cephfs").get_to(setup.cephfs);
    json.at("mon_v2_port").get_to(setup.mon_v2_port);
    json.at("mon_v1_port").get_to(setup.mon_v1_port);
    json.at("run_directory").get_to(setup.run_directory);
    json.at("osd_uuids").get_to(setup.osd_uuids);
    for (const auto& [name, id] : json.at("processes").items())
      state.processes[name] = {id.at("pid").get<pid_t>(), id.at("start_ticks").get<uint64_t>(),
                               id.at("boot_id").get<std::string>()};
  } catch (const Json::exception& error) {
    throw Error(
        fmt::format("{} is not the description of a lab: {}", what, error.what()),
        "was it edited by hand? Without it cephmark cannot tell which processes are the lab's");
  }
  return state;
}

std::optional<LabState> load_lab_state(const std::string& directory) {
  const std::string path = directory + "/" + kLabMarker;
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) return std::nullopt;
  return lab_state_from_json(parse_json(read_file(path), path), path);
}

void save_lab_state(const std::string& directory, const LabState& state) {
  write_file_atomically(directory + "/" + kLabMarker, to_json(state).dump(2) + "\n", 0600);
}

LabLock::LabLock(const std::string& directory, const std::function<void(const std::string&)>& say) {
  const int64_t deadline_ns = monotonic_ns() + kLockWaitNs;
  for (bool told = false;;) {
    UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd) throw Error(fmt::format("cannot open directory {}: {}", directory, errno_text(errno)));
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) {
      if (same_directory(fd.get(), directory)) {
        fd_ = std::move(fd);
        return;
      }
      continue;  // a "lab down" removed it under us: look again
    }
    if (errno != EWOULDBLOCK && errno != EINTR)
      throw Error(fmt::format("cannot lock directory {}: {}", directory, errno_text(errno)));
    if (!told && say)
      say(fmt::format("another cephmark is at work on the lab in {}; waiting for it", directory));
    told = true;
    if (monotonic_ns() > deadline_ns)
      throw Error(fmt::format("another cephmark has been at work on the lab in {} for two minutes",
                              directory),
                  "wait for it to end, or end it, and try again");
    ::usleep(100'000);
  }
}

}  // namespace cephmark
