// sysbench_plan: a `fileio run` command line -> Plan, and the text that sysbench prints ahead of a
// run. One VM without a name; a thread is a numjobs clone. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "compat/sysbench_arguments.h"
#include "job/plan.h"

namespace cephmark {

/// What of each file a run works on: a sequential one goes to its odd end, the others (and direct
/// I/O and checks) do whole blocks.
uint64_t sysbench_region_bytes(const SysbenchArguments& arguments);

/// The plan of a checked command line. Files are those of the current directory. Not filled in:
/// seed (unless --rand-seed gives it), ceph.
Plan make_sysbench_plan(const SysbenchArguments& arguments, const std::vector<std::string>& argv);

/// From "Running the test with following options:" to "Doing random read test".
std::string sysbench_run_header(const SysbenchArguments& arguments);

/// The distribution that --rand-type and its parameters make over the blocks of all files in their
/// order: zones of whole blocks, about a hundredth wide, with an edge at either end of
/// what is "special".
Distribution sysbench_distribution(const SysbenchArguments& arguments);

}  // namespace cephmark
