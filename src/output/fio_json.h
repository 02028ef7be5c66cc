// fio_json: a RunResult as the document that fio --output-format=json (or json+) prints, key by key
// and in fio's order, so that the programs which read fio's reports read ours. Pure functions.
// docs/measuring.md says where a number of ours means something else than fio's.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "output/fio_normal.h"
#include "result/run_result.h"

namespace cephmark {

struct FioJsonOptions {
  bool bins = false;  ///< json+: the histograms themselves
  int vm = -1;  ///< only this VM (index into plan.vms); -1: all, each job with its VM as "hostname"
};

/// "fio-3.42-cephmark-0.1.0": whose format it is, and who wrote it.
std::string fio_version_text();

Json fio_json_document(const RunResult& result, const FioJsonOptions& options = {});
std::string fio_json_text(const RunResult& result, const FioJsonOptions& options = {});

/// One per entry of "jobs": what fio's normal report says beyond its JSON.
std::vector<FioJobHeader> fio_job_headers(const RunResult& result,
                                          const FioJsonOptions& options = {});

}  // namespace cephmark
