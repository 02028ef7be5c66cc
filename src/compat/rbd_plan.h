// rbd_plan: an `rbd bench` command line -> Plan. Pure.
#pragma once

#include <string>
#include <vector>

#include "compat/rbd_arguments.h"
#include "job/plan.h"

namespace cephmark {

/// The image that the command line names, once it has been looked at.
struct RbdBenchImage {
  std::string pool, rados_namespace, name;  ///< name: with @SNAP where one is read
  uint64_t size_bytes = 0;
};

/// The plan of a checked command line. seq: a job of depth 1 per thread, whose parts are whole I/Os
/// and make up the image exactly (the image's last bytes, less than an I/O, are left out by every
/// pattern); rand and full-seq: one job. `compat`: the payload and the guard are the original's.
/// `random_byte` stands in for --pattern-byte rand. Not filled in: seed. Throws RbdRefusal when an
/// I/O is larger than the image, or 4 GiB and more.
Plan make_rbd_bench_plan(const RbdArguments& arguments, const RbdBenchImage& image,
                         const std::vector<std::string>& argv, bool compat, uint8_t random_byte);

/// The I/Os that a command line asks for: a last one that is not whole counts.
uint64_t rbd_bench_ios(const RbdArguments& arguments);

}  // namespace cephmark
