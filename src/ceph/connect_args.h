// connect_args: what CEPH_CONF, CEPH_ARGS and our own options say about how to reach a cluster,
// settled as Ceph's own tools do: our command line, then CEPH_ARGS, then CEPH_CONF, then the
// defaults. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "job/plan.h"

namespace cephmark {

/// "client.bench" for "bench" and "client.bench", "client.rbd.mirror" for "rbd.mirror";
/// "client.admin" for "".
std::string full_user_name(const std::string& user);

/// The words of CEPH_ARGS, split as Ceph splits them (at blanks; quotes keep them together).
std::vector<std::string> split_ceph_args(const std::string& text);

/// Everything settled: `conf` may stay empty (the library then looks in its default places), `user`
/// is a full name, `cluster` is never empty. `conf_origin` says where conf came from: "--conf,
/// or conf= of the job", "CEPH_ARGS", "CEPH_CONF", "default places".
struct ConnectArgs {
  std::string conf, user, keyring, cluster;
  std::string conf_origin;
  bool operator==(const ConnectArgs&) const = default;

  /// "conf /etc/ceph/ceph.conf (CEPH_CONF), user client.bench"
  std::string text() const;
};

/// `ceph_conf` and `ceph_args` are the values of the environment's variables ("" when unset).
ConnectArgs settle_connect_args(const CephTarget& target, const std::string& ceph_conf,
                                const std::string& ceph_args);
/// The same with this process's environment.
ConnectArgs settle_connect_args(const CephTarget& target);

}  // namespace cephmark
