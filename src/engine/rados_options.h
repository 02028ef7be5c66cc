// RadosOptions: what the engines on objects read from a job's engine options. Pure functions.
#pragma once

#include <string>

#include "job/job_spec.h"

namespace cephmark {

/// "" when it is not given.
inline std::string option_of(const JobSpec& job, const char* name) {
  const auto found = job.engine_options.find(name);
  return found == job.engine_options.end() ? "" : found->second;
}

inline std::string pool_of(const JobSpec& job) {
  const std::string pool = option_of(job, "pool");
  return pool.empty() ? "rbd" : pool;
}

}  // namespace cephmark
