// ceph_args: what the environment's CEPH_ARGS says, read as Ceph's own tools read it. Pure; any
// thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "job/plan.h"

namespace cephmark {

/// How to reach the cluster (the user without "client."), and every other option as a line of
/// ceph.conf: {"rbd_cache", "false"}. Of an option that is given twice the later one counts.
struct CephArguments {
  CephTarget target;
  std::vector<std::pair<std::string, std::string>> options;
};
CephArguments parse_ceph_args(const std::string& text);

}  // namespace cephmark
