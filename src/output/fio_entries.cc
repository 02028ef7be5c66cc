#include "output/fio_entries.h"

#include <algorithm>
#include <map>
#include <utility>

namespace cephmark {

FioEntries::FioEntries(const RunResult& result, int vm) {
  struct Group {
    size_t entry = 0;
    JobResult* counts = nullptr;
  };
  std::map<std::pair<int, int>, Group> groups;  // by VM and group id
  for (const auto& one : result.vms) {
    if (vm >= 0 && one.vm != vm) continue;
    for (const auto& job : one.jobs) {
      const JobSpec& spec = result.plan.vms.at(one.vm).jobs.at(job.job);
      const int members = std::max(1, spec.numjobs);
      const auto add = [&](const JobResult& counts, int of) {
        entries_.push_back({figures_of_counts(result, one.vm, counts, of), of});
      };
      if (!spec.group_reporting) {
        for (const auto& clone : job.each_clone()) add(clone, job.clones.empty() ? members : 1);
        continue;
      }
      const auto [place, first] = groups.try_emplace({one.vm, spec.group});
      if (first) {
        place->second = {entries_.size(), &groups_.emplace_back(job)};
        add(*place->second.counts, members);
        continue;
      }
      place->second.counts->merge(job);
      FioEntry& entry = entries_[place->second.entry];
      entry.members += members;
      entry.figures = figures_of_counts(result, one.vm, *place->second.counts, entry.members);
    }
  }
}

std::vector<JobFigures> FioEntries::figures() const {
  std::vector<JobFigures> figures;
  for (const auto& entry : entries_) figures.push_back(entry.figures);
  return figures;
}

}  // namespace cephmark
