// Connection: one librados context that carries measured I/O (about 15 threads), and
// ConnectionPool: the stated number of them that the VMs of a run share. Owned by the runner; made,
// connected and shut down on set-up and tear-down threads. Connections are safe to use from any
// thread; what may be called inside a librados callback is said at the function.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ceph/cluster.h"
#include "job/job_spec.h"
#include "job/plan.h"

namespace cephmark {

/// What a context must be able to have in flight without blocking a submitter
/// (objecter_inflight_ops and objecter_inflight_op_bytes: librados blocks the caller above them).
struct ObjecterBudget {
  uint64_t ops = 0;    ///< sum over lanes of depth x (1 + objects that one I/O touches)
  uint64_t bytes = 0;  ///< twice the sum over lanes of depth x largest block
  void add(const JobSpec& job);
};

/// A cluster handle for measured I/O, with the settings of librbd's cache that an open wants.
class Connection {
 public:
  /// Connects within `timeout_ns`; `cache` decides the cache's policy, which cannot be changed
  /// later. Throws Error as Cluster::connect does.
  Connection(const CephTarget& target, const ObjecterBudget& budget, RbdCache cache,
             int64_t timeout_ns);

  Cluster& cluster() const { return *cluster_; }

  /// rbd_cache is read when an image is opened, from the settings of the whole context. Between
  /// these two calls the context has the wanted setting; openers that want another one wait for the
  /// others to end. kConf restores what the conf says; kAsFio is settled by the caller (on: kConf,
  /// off: kOff).
  void begin_open(RbdCache wanted);
  void end_open();

 private:
  void set(const char* name, const std::string& value);

  std::shared_ptr<Cluster> cluster_;
  std::string conf_cache_;  ///< what conf says, before we set anything
  std::mutex open_mutex_;
  std::condition_variable open_changed_;
  RbdCache open_setting_ = RbdCache::kConf;
  int openers_ = 0;
};

/// Where a job goes: the plan's --conf, --user, --cluster where given, else the job's own conf,
/// clientname, clustername.
CephTarget ceph_target_of(const Plan& plan, const JobSpec& job);

class ConnectionPool {
 public:
  /// Plans how many contexts there are and who shares them; connects nothing yet. `plan` outlives
  /// the pool.
  explicit ConnectionPool(const Plan& plan);
  /// Leaks what was abandoned; else shuts all connections down.
  ~ConnectionPool();
  ConnectionPool(const ConnectionPool&) = delete;
  ConnectionPool& operator=(const ConnectionPool&) = delete;

  /// Connects all in parallel, each within the plan's open time limit. `on_connected` is told each
  /// context's instance id at once, one at a time. Throws the first Error.
  void connect(const std::function<void(int done, int total)>& progress = {},
               const std::function<void(uint64_t instance)>& on_connected = {});
  /// The largest budget that a context has: what librados lets it have in flight. After connect().
  ObjecterBudget effective_budget() const;
  /// The context of a VM's job; after connect(). `vm` is one of the plan's.
  Connection& connection(const VmPlan& vm, const JobSpec& job) const;

  int size() const;                            ///< planned number of contexts
  std::vector<uint64_t> instance_ids() const;  ///< ours, among the watchers of an image
  /// What stands in the report: connections, objecter_inflight_ops, objecter_inflight_op_bytes,
  /// conf, user.
  std::map<std::string, std::string> facts() const;

  /// Runs `work` soon on a helper thread of the pool. Safe inside a callback and inside submit();
  /// for rare events.
  void run_soon(std::function<void()> work);

  /// Shuts all contexts down on a thread of its own. False when that did not end within the limit:
  /// the pool is then abandoned and the process is to leave with _exit.
  bool shut_down(int64_t limit_ns);
  /// Requests are out that never came back: nothing is shut down or freed any more.
  void abandon();

 private:
  struct Group;  // contexts with equal CephTarget
  struct Helper;
  std::vector<std::unique_ptr<Group>> groups_;
  std::unique_ptr<Helper> helper_;
  const Plan& plan_;
  bool abandoned_ = false;
};

}  // namespace cephmark
