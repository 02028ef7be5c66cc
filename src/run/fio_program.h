// FioProgram: which fio on this machine is run. Plain data and functions; they start fio for a
// moment to ask it.
#pragma once

#include <string>

#include "job/plan.h"

namespace cephmark {

struct FioProgram {
  std::string path;
  std::string version;  ///< "fio 3.33"
};

/// Where a fio is looked for.
struct FioSearch {
  std::string requested;  ///< --fio PATH; empty: beside our program, then on PATH
  std::string own_program = "/proc/self/exe";
  std::string path;  ///< directories as in $PATH
};

/// The first fio that is not this program under another name (a link named fio that leads to us is
/// passed over). Throws Error (naming what was looked at) when there is none, or when --fio names
/// us or nothing that can be run.
std::string locate_fio(const FioSearch& search);

/// Locates fio with the machine's PATH and asks it for its version. Throws Error when it is not fio
/// 3 or newer.
FioProgram find_fio(const std::string& requested);

/// Throws Error unless this fio has every engine that the plan's jobs name (many builds have no
/// rbd).
void require_fio_engines(const FioProgram& fio, const Plan& plan);

}  // namespace cephmark
