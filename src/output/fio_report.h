// FioReport: what fio prints while and after it runs, in the order in which it prints it: the jobs'
// banners, then terse lines, JSON, the normal text, as many of them as were asked for. Owned by the
// command; writes to the stream it was made with as the run goes on; one thread at a time.
#pragma once

#include <memory>
#include <ostream>
#include <string>

#include "output/writer.h"

namespace cephmark {

/// What of fio's four reports is printed.
struct FioFormats {
  bool normal = false, terse = false, json = false, bins = false;  ///< bins: json+
  int terse_version = 3;
};

std::unique_ptr<Writer> make_fio_report(std::ostream& out, const FioFormats& formats);

/// "j: (g=0): rw=read, bs=(R) 4096B-4096B, ..., ioengine=psync, iodepth=1" of every section, the
/// version and "Starting 1 process": what fio prints before it begins.
std::string fio_banner(const Plan& plan);

}  // namespace cephmark
