// Lab: a real Ceph cluster on this machine, for demonstrations and tests: Ceph's own daemons,
// started directly, with their data, keys and sockets in one directory. Nothing of the machine's
// own Ceph configuration is read. A Lab object is a view of one that exists; it owns no process.
// Not for use by two threads at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "lab/lab_state.h"

namespace cephmark {

/// What `lab up` was asked for; empty: what the existing lab has, else the default.
struct LabOptions {
  std::optional<int> osds;                 ///< 3
  std::optional<int> replicas;             ///< 3, or fewer when there are fewer OSDs
  std::optional<std::string> store;        ///< bluestore
  std::optional<uint64_t> osd_size_bytes;  ///< 4 GiB
  std::optional<std::string> bind;         ///< 127.0.0.1
  bool cephfs = false;                     ///< also an MDS and the file system `cephfs`
};

/// Told what is being done, one line at a time; may be empty.
using LabProgress = std::function<void(const std::string&)>;

struct LabDaemon {
  std::string name;  ///< "mon.a", "mgr.x", "osd.0", "mds.a"
  pid_t pid = 0;
  ProcessState state = ProcessState::kGone;
};

class Lab {
 public:
  /// The lab in `directory` (empty: the default one), whatever its state; nothing when there is
  /// none. Throws Error when its description cannot be read.
  static std::optional<Lab> find(const std::string& directory = "");
  /// The same, and throws Error unless it was completely made.
  static Lab open(const std::string& directory = "");

  const std::string& directory() const { return directory_; }
  std::string conf_path() const { return directory_ + "/ceph.conf"; }
  std::string admin_keyring_path() const { return directory_ + "/keyring"; }
  const LabSetup& setup() const { return state_.setup; }
  const std::string& fsid() const { return state_.setup.fsid; }
  const std::string& ceph_version() const { return state_.ceph_version; }
  int osd_count() const { return state_.setup.osds; }
  bool ready() const { return state_.ready; }

  /// All daemons that belong to the lab, with their present state, in the order in which they are
  /// started.
  std::vector<LabDaemon> daemons() const;
  /// Pid of a daemon ("osd.0"), 0 when it does not run.
  pid_t pid(const std::string& daemon) const;

  /// Runs `ceph ARGS -f json` as client.admin. Throws Error; when no monitor answers, after
  /// `timeout_ns`.
  Json ceph_json(const std::vector<std::string>& args, int64_t timeout_ns = 20'000'000'000) const;

  /// SIGSTOP and SIGCONT. Throw Error when the OSD does not run.
  void pause_osd(int osd);
  void resume_osd(int osd);
  /// Ends an OSD as an operator would (SIGTERM; SIGKILL after 30 s), and starts it again, back when
  /// the monitors have it up. Both do nothing when it is already so.
  void stop_osd(int osd, const LabProgress& say = {});
  void start_osd(int osd, const LabProgress& say = {});

 private:
  Lab(std::string directory, LabState state)
      : directory_(std::move(directory)), state_(std::move(state)) {}
  ProcessId osd_process(int osd) const;

  std::string directory_;
  LabState state_;
};

/// --dir's value made absolute; when empty: $CEPHMARK_LAB_DIR, or `lab` in the state directory.
std::string lab_directory(const std::string& directory = "");

/// Makes the lab, or mends the existing one; returns when the pool `rbd` is ready and all PGs are
/// active+clean. Throws Error (what failed, and where its log is) and UsageError.
Lab lab_up(const std::string& directory, const LabOptions& options, const LabProgress& say);

/// Ends the processes that the lab started and removes its data. False when there was no lab.
/// Throws Error.
bool lab_down(const std::string& directory, const LabProgress& say);

/// Path of the ceph.conf of a lab whose monitor runs.
std::optional<std::string> lab_conf_if_running(const std::string& directory = "");

/// "3 OSDs of 4 GiB (bluestore), 3 replicas"
std::string shape_text(const LabSetup& setup);

/// `conf` is the configuration of a lab, running or not.
bool is_lab_conf(const std::string& conf);

/// Environment of a program that is to use this lab, whatever cluster ours points to; an empty
/// value stands for "not set".
std::map<std::string, std::string> lab_environment(const Lab& lab);

}  // namespace cephmark
