// FioCephConf: how a real fio is brought to the cluster that the plan means. fio's rbd engine reads
// $CEPH_CONF (never CEPH_ARGS) and takes its user from clientname= only; its rados engine reads
// conf= of the job and nothing else. What fio has no option for (keyring, cache, CEPH_ARGS) is
// appended to a copy of ceph.conf, made for the run and readable by us only: Ceph's conf files
// cannot include others. Pure functions but for reading files and environment.
#pragma once

#include <map>
#include <string>

#include "ceph/ceph_args.h"
#include "job/plan.h"

namespace cephmark {

/// Throws UsageError for what fio's Ceph engines cannot do: another user than clientname=, a
/// clientname with "client." (fio would ask for client.client.X and hang), a conf that the rados
/// engine will not read.
void check_fio_ceph_jobs(const Plan& plan);

/// `base` with a section for each client of the plan's rbd jobs that sets the keyring, the cache
/// and CEPH_ARGS.
std::string fio_ceph_conf_text(const std::string& base, const Plan& plan,
                               const CephArguments& arguments);

/// Writes that conf into `directory` when the plan has rbd jobs, under the base's own name (the
/// name of the cluster is taken from it). Returns what to add to fio's environment. Throws Error
/// when no ceph.conf is found.
std::map<std::string, std::string> prepare_fio_ceph(const Plan& plan, const std::string& directory);

}  // namespace cephmark
