// merge: one result out of the results of several runners of the same plan (hosts, processes). Pure
// function. Histograms, series and counters are added; nothing is averaged. All parts must be on
// the same epoch (the common start that the coordinator gave): slots and phases are merged as they
// stand.
#pragma once

#include <vector>

#include "result/run_result.h"

namespace cephmark {

/// The parts hold the whole plan each (VmResult::vm counts over all of it) and disjoint VMs. Facts
/// of the hosts are kept under "HOST: key" where they differ. Throws Error when two parts have the
/// same VM, different plans or slot widths, and for no part at all.
RunResult merge_results(const std::vector<RunResult>& parts);

}  // namespace cephmark
