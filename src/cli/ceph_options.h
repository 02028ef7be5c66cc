// ceph_options: the options by which every command that talks to a cluster is told which one:
// --conf, --user, --keyring, --cluster, --lab, under the names that Ceph's own tools use. CEPH_CONF
// and CEPH_ARGS count as they do there.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "job/plan.h"

namespace cephmark {

struct CephOptions {
  CephTarget target;
  bool lab = false;
};

/// `options` must live until the command line has been parsed.
void add_ceph_options(CLI::App& app, CephOptions& options);

/// With --lab: the running lab's conf and keyring. Throws UsageError for --lab beside --conf, Error
/// without a lab.
CephTarget resolve_ceph_target(const CephOptions& options);

/// Options of Ceph's own on a command line ("--debug-ms=1") go to every connection from then on the
/// way that all of Ceph's programs take them: at the end of CEPH_ARGS. Before threads are started.
void pass_on_to_ceph(const std::vector<std::string>& words);

/// The cluster meant is a lab of ours: by --lab, or by a configuration that is one's.
bool uses_lab(const CephOptions& options);

}  // namespace cephmark
