// fio_normal: fio's "normal" report, written from the document that is its JSON (fio_json): so the
// two can never disagree, and the text can be checked against the real program by giving it the
// real program's JSON (tests/peer/fio_report_test). Layout of fio 3.42. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace cephmark {

/// What the text says of a job and the JSON does not.
struct FioJobHeader {
  int members = 1;         ///< "jobs=N": how many clones the entry stands for
  int pid = 0;             ///< of the process that ran it
  std::string error_text;  ///< "Input/output error"; empty unless "error" is not 0
  std::string ended;       ///< "Mon Nov 30 12:49:04 2026"; empty: the document's "time"
};

/// From the empty line before the first job to the end of "Disk stats". A header per entry of
/// "jobs". A job without any I/O is left out, as fio does.
std::string fio_normal_text(const Json& document, const std::vector<FioJobHeader>& headers);

}  // namespace cephmark
