// LabState: what a lab is made of and which processes it started: the file cephmark-lab.json in the
// lab's directory, which is also the mark that the directory is ours to change and remove. Plain
// data; written before what it describes is done. LabLock: one cephmark at a time works on a lab.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/json.h"
#include "lab/process.h"

namespace cephmark {

/// Decided when the lab is made; only the monitor's ports may change later (when somebody else has
/// taken them).
struct LabSetup {
  std::string fsid;
  std::string bind = "127.0.0.1";
  std::string store = "bluestore";  ///< or memstore
  int osds = 3;
  int replicas = 3;
  uint64_t osd_size_bytes = 0;
  uint64_t osd_memory_bytes = 0;  ///< what one OSD may use, see lab_conf.h
  bool cephfs = false;
  int mon_v2_port = 0, mon_v1_port = 0;
  std::string
      run_directory;  ///< admin sockets; outside the lab when its path is too long for a socket
  std::vector<std::string> osd_uuids;
};

struct LabState {
  LabSetup setup;
  bool ready = false;                          ///< false: being made, or its making was cut off
  std::string ceph_version;                    ///< as the monitor told it, "16.2.15"
  std::map<std::string, ProcessId> processes;  ///< by daemon: "mon.a", "mgr.x", "osd.0", "mds.a"
};

inline constexpr const char* kLabMarker = "cephmark-lab.json";

Json to_json(const LabState& state);
/// Throws Error naming `what` when the document is not a lab's state.
LabState lab_state_from_json(const Json& json, const std::string& what);

/// The state of the lab in `directory`; nothing when the directory carries no mark (or does not
/// exist).
std::optional<LabState> load_lab_state(const std::string& directory);
void save_lab_state(const std::string& directory, const LabState& state);

/// Holds the lock of an existing directory; the kernel lets go of it when we die.
class LabLock {
 public:
  /// Waits up to two minutes for another cephmark, telling `say` once. Throws Error.
  LabLock(const std::string& directory, const std::function<void(const std::string&)>& say);

 private:
  UniqueFd fd_;
};

}  // namespace cephmark
