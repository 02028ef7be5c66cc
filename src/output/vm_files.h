// VmFiles: the folder of files that a fleet's run leaves for people, one job file and one fio JSON
// report per VM (every run's RunResult is kept by result/results_directory):
//   results/<job>_proc_<N>/job_file_<host>_proc_<i>
//   results/<job>_proc_<N>/test_result_<host>_proc_<i>
// That exact path always holds the newest run; an older one is moved aside first, under the time at
// which it was last written (results/<job>_proc_<N>.2026-11-30T14-05-09). Nothing is overwritten: a
// directory that another run is still writing is refused. Owned by one thread; the directory is
// locked until the object goes.
#pragma once

#include <functional>
#include <string>

#include "base/fd.h"
#include "job/plan.h"

namespace cephmark {

class VmFiles {
 public:
  /// Makes the directory below `base` for this plan. `host` names this machine for VMs that have no
  /// host of their own. Throws Error when that is not possible.
  static VmFiles create(const Plan& plan, const std::string& host,
                        const std::string& base = "results");

  /// Before a run whose files are made after it: throws Error when `base` is no directory in which
  /// something can be made, nor can become one. Makes nothing.
  static void require_place(const std::string& base);

  VmFiles(VmFiles&&) = default;
  /// A directory that nothing was written to is taken away again, and the older one put back.
  ~VmFiles();

  const std::string& path() const { return path_; }
  /// Where the older run went; empty: there was none.
  const std::string& moved_aside() const { return moved_aside_; }

  /// Full paths for VM `vm` (index into the plan's VMs).
  std::string job_file(size_t vm) const;
  std::string result_file(size_t vm) const;

  /// Writes both files of every VM: for runners that do not write them while they run. `fio_json`
  /// gives a VM's report. Throws Error (the disk may be full); what was written until then stays.
  void write(const Plan& plan, const std::function<std::string(size_t vm)>& fio_json) const;

 private:
  VmFiles() = default;

  std::string path_, moved_aside_;
  std::vector<std::string> suffixes_;  // "<host>_proc_<i>" by VM
  UniqueFd lock_;
};

}  // namespace cephmark
