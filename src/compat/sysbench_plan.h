// sysbench_plan: a `fileio run` command line -> Plan, and the text that sysbench prints ahead of a
// run. One VM without a name; a thread is a numjobs clone. Pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compat/sysbench_arguments.h"
#include "job/plan.h"

namespace cephmark {

/// What of a checked command line cannot be run yet, as one sentence; nothing: all of it can be.
std::optional<std::string> not_run_yet(const SysbenchArguments& arguments);

/// The plan of a command line that can be run. Files are those of the current directory, whole
/// blocks of each. Not filled in: seed (unless --rand-seed gives it), ceph.
Plan make_sysbench_plan(const SysbenchArguments& arguments, const std::vector<std::string>& argv);

/// From "Running the test with following options:" to "Doing random read test".
std::string sysbench_run_header(const SysbenchArguments& arguments);

/// The distribution that --rand-type and its parameters make over the blocks of all files in their
/// order: zones of whole blocks, about a hundredth wide, with an edge at either end of
/// what is "special".
Distribution sysbench_distribution(const SysbenchArguments& arguments);

}  // namespace cephmark
