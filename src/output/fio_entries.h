// FioEntries: what fio calls one job in a report: a clone of a section; with group_reporting all
// clones and sections of one reporting group together. Plain data over a RunResult, which must
// outlive it.
#pragma once

#include <deque>
#include <vector>

#include "result/figures.h"

namespace cephmark {

struct FioEntry {
  JobFigures figures;  ///< spec: of the first section
  int members = 1;     ///< clones that were added up
};

class FioEntries {
 public:
  /// Of one VM (an index into plan.vms), or of all with -1: VMs are never added up. Where the
  /// result did not keep the clones apart, a section without group_reporting is one entry, too.
  explicit FioEntries(const RunResult& result, int vm = -1);
  FioEntries(const FioEntries&) = delete;
  FioEntries& operator=(const FioEntries&) = delete;

  const std::vector<FioEntry>& all() const { return entries_; }
  std::vector<JobFigures> figures() const;

 private:
  std::deque<JobResult> groups_;  ///< what was added up
  std::vector<FioEntry> entries_;
};

}  // namespace cephmark
