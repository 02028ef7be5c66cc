// lab_conf: the texts a lab's cluster is made from. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lab/lab_state.h"

namespace cephmark {

/// What one OSD may use of a machine with this much memory: a quarter of it is shared by all OSDs;
/// at most 2 GiB each.
uint64_t osd_memory_for(uint64_t machine_bytes, int osds);

/// PGs of the pool `rbd`: a power of two, about 32 per three OSDs.
int lab_pg_num(int osds);

/// The ceph.conf of a lab; `directory` is its absolute path.
std::string lab_conf_text(const std::string& directory, const LabSetup& setup);

/// "[v2:127.0.0.1:3300,v1:127.0.0.1:6789]", IPv6 addresses in brackets.
std::string mon_address(const LabSetup& setup);

struct LabKey {
  std::string entity, secret;
  std::vector<std::pair<std::string, std::string>> caps;
};
std::string keyring_text(const std::vector<LabKey>& keys);

/// Capabilities as Ceph's own deployment gives them to a daemon ("mon.", "mgr.x", "osd.0", "mds.a")
/// or client.admin.
std::vector<std::pair<std::string, std::string>> caps_for(const std::string& entity);

/// Throws UsageError when Ceph's configuration file or its keyring list could not carry this path.
void check_lab_path(const std::string& directory);

/// Whether admin sockets below `directory`/run fit into a socket address (sun_path has 108 bytes,
/// unix(7)).
bool socket_path_fits(const std::string& directory);

}  // namespace cephmark
