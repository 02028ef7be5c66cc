// effective_options: what a JobSpec says, as option names and values that people can read and fio
// would take: sizes in bytes, times with a unit. For reports (every value, defaults too). Pure
// functions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "job/job_spec.h"

namespace cephmark {

/// All effective options of a job in the order of docs/job-file, then its engine's own. Options
/// that have no value (no description, no size) are left out.
std::vector<std::pair<std::string, std::string>> effective_options(const JobSpec& spec);

std::string size_text(const SizeSpec& size);  ///< "1048576", "50%", "" when unset
std::string time_text(int64_t ns);            ///< "120s", "1500us"
/// "5s", or a range as fio reads it: "5-10", "1500us-3000us".
std::string startdelay_text(const JobSpec& spec);
std::string directories_text(const JobSpec& spec);  ///< "a:b", colons escaped
std::string rw_text(const RwMode& rw);              ///< "randread:8"
std::string bs_text(
    const JobSpec& spec);  ///< "4096", "4096,8192,4096"; "" when a direction has a range
std::string bsrange_text(const JobSpec& spec);  ///< "4096-65536"; "" when no direction has a range
std::string block_splits_text(const JobSpec& spec);  ///< "4096/60:65536/40", "" without
std::string distribution_text(const JobSpec& spec);  ///< "zipf:1.2"
std::string filenames_text(const std::vector<std::string>& names);  ///< "a:b", colons escaped
std::string per_direction_text(const PerDirection<uint64_t>& values);

}  // namespace cephmark
