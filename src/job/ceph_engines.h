// ceph_engines: which engines reach a Ceph cluster, by name: the one list of them. A job of such an
// engine shares the librados connections of the run. Pure; any thread.
#pragma once

#include <string_view>

#include "job/plan.h"

namespace cephmark {

bool needs_ceph(std::string_view ioengine);

/// The first job that needs a cluster; null when none does.
const JobSpec* first_ceph_job(const Plan& plan);

}  // namespace cephmark
