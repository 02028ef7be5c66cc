// LabDaemons: one lab's processes and command-line tools, for those who build, mend and end it. The
// holder has the lab's lock (LabLock). Its functions may be called from one thread at a time, but
// for tool() and ceph().
#pragma once

#include <string>
#include <vector>

#include "base/subprocess.h"
#include "lab/lab.h"
#include "lab/lab_state.h"

namespace cephmark {

class LabDaemons {
 public:
  LabDaemons(std::string directory, LabState& state)
      : directory_(std::move(directory)), state_(state) {}

  const std::string& directory() const { return directory_; }
  LabState& state() { return state_; }
  std::string conf_path() const { return directory_ + "/ceph.conf"; }
  void save() const { save_lab_state(directory_, state_); }

  /// Names of all daemons in the order in which they are started.
  static std::vector<std::string> names(const LabSetup& setup);

  ProcessState state_of(const std::string& daemon) const;
  /// Starts a daemon unless it runs; a paused one goes on. Its identity is saved before it runs.
  void start(const std::string& daemon);
  /// SIGTERM, then SIGKILL after `grace_ns`.
  void stop(const std::string& daemon, int64_t grace_ns);
  /// SIGKILL to everything recorded. Used where the data goes too.
  void kill_all();

  /// Runs one of Ceph's tools with this lab's configuration only. Throws Error with what it said.
  std::string tool(const std::vector<std::string>& argv, const std::string& input = "",
                   int64_t timeout_ns = 120'000'000'000) const;
  /// `ceph ARGS` as client.admin.
  std::string ceph(const std::vector<std::string>& args, int64_t timeout_ns = 60'000'000'000) const;
  Json ceph_json(std::vector<std::string> args, int64_t timeout_ns = 60'000'000'000) const;

  /// Calls `done` every 200 ms until it is true. Throws Error when a daemon of the lab dies
  /// meanwhile (with the end of its log) or `timeout_ns` passed; `what` completes "the lab's
  /// cluster did not ...".
  void wait_for(const std::string& what, int64_t timeout_ns,
                const std::function<bool()>& done) const;

  /// True when the OSD that runs now says itself that it is active: the map may call one up that
  /// has died.
  bool osd_is_active(int osd) const;
  /// Waits until the monitor answers; until all OSDs are active and up; until all PGs (at least
  /// those of the pool `rbd`) are active+clean by reports from after their OSDs came up.
  void wait_for_monitor() const;
  void wait_for_osds() const;
  void wait_for_clean() const;

 private:
  std::string directory_;
  LabState& state_;
};

/// Packages' names for missing programs. Throws Error naming both.
void check_lab_programs(bool cephfs);

}  // namespace cephmark
