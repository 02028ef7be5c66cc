// Cluster: one librados connection for set-up, questions and tear-down (pools, images, monitor
// commands); measured I/O goes through the ConnectionPool instead. Shared by whoever needs it; all
// functions may be called from any thread but a librados callback, and block.
#pragma once

#include <rados/librados.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "ceph/connect_args.h"
#include "job/plan.h"

namespace cephmark {

/// Owns one rados_ioctx_t. Move-only; one thread at a time.
class IoContext {
 public:
  IoContext() = default;
  explicit IoContext(rados_ioctx_t io) : io_(io) {}
  IoContext(IoContext&& other) noexcept : io_(std::exchange(other.io_, nullptr)) {}
  IoContext& operator=(IoContext&& other) noexcept {
    std::swap(io_, other.io_);
    return *this;
  }
  ~IoContext() {
    if (io_) rados_ioctx_destroy(io_);
  }
  rados_ioctx_t get() const { return io_; }

 private:
  rados_ioctx_t io_ = nullptr;
};

/// Options to set before the connect, beyond what conf and CEPH_ARGS say.
struct ClusterSettings {
  std::map<std::string, std::string> exactly;
  std::map<std::string, uint64_t> at_least;  ///< a higher value of the user's own stays
};

class Cluster {
 public:
  /// Connects as Ceph's own tools do: conf (or CEPH_CONF, or the default places), CEPH_ARGS, then
  /// the target's own settings (connect_args.h). Throws Error that names conf, monitors, user,
  /// keyring and errno.
  static std::shared_ptr<Cluster> connect(const CephTarget& target,
                                          int64_t timeout_ns = 30'000'000'000,
                                          const ClusterSettings& settings = {});
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  const CephTarget& target() const { return target_; }
  const ConnectArgs& args() const { return args_; }
  rados_t rados() const { return rados_; }
  const std::string& fsid() const { return fsid_; }
  /// What watchers of this connection show as client.N.
  uint64_t instance_id() const { return instance_id_; }
  /// Effective value of a configuration option; "" when there is none.
  std::string option(const std::string& name) const;
  bool knows_option(const std::string& name) const;

  /// An I/O context of a pool and a namespace ("" is the default one). Throws Error that names the
  /// pool, the user, errno and a pool of a similar name.
  IoContext io(const std::string& pool, const std::string& rados_namespace = "");
  std::vector<std::string> pools();

  /// Sends {"prefix": "osd dump"} and so on; format json is added. An empty answer is null. Throws
  /// Error.
  Json monitor_command(Json command);

  /// The same to an OSD, as `ceph tell osd.N`: {"prefix": "perf dump"}. Needs the cap osd 'allow
  /// *'. Throws Error.
  Json osd_command(int osd, Json command);

 private:
  Cluster() = default;
  void configure(int64_t timeout_ns, const ClusterSettings& settings);
  [[noreturn]] void fail_connect(int error, int64_t timeout_ns) const;

  CephTarget target_;
  ConnectArgs args_;
  rados_t rados_ = nullptr;
  std::string fsid_;
  uint64_t instance_id_ = 0;
};

/// How much a pool can still take.
struct PoolSpace {
  std::string pool;
  double raw_factor = 1;   ///< raw bytes per stored byte: replicas, or (k+m)/k
  std::string redundancy;  ///< "3 replicas", "EC 4+2"
  uint64_t stored_bytes = 0;
  uint64_t free_bytes =
      0;  ///< user bytes until the first OSD is full, as `ceph df` says (MAX AVAIL)
  uint64_t free_below_nearfull_bytes = 0;  ///< user bytes until nearfull; quotas counted
  double nearfull_ratio = 0;
  double used_fraction = 0;  ///< of what the pool could hold
};

/// Asks the monitors. Throws Error when the pool does not exist or the user may not ask.
PoolSpace pool_space(Cluster& cluster, const std::string& pool);
/// The arithmetic of it: `df` is `ceph df detail`, `osd_dump` is `ceph osd dump`, as JSON. Pure.
PoolSpace pool_space_from(const Json& df, const Json& osd_dump, const std::string& pool);

}  // namespace cephmark
