// test_engines: engine descriptions for the tests of the job language, which must not depend on
// real engines.
#pragma once

#include <span>

#include "job/option_table.h"

namespace cephmark {

inline std::span<const EngineDescription> test_engines() {
  using Kind = EngineOption::Kind;
  static const EngineOption rbd[] = {
      {"clustername", "", Kind::kText, "", false, {}, INT64_MIN, INT64_MAX, "Cluster name"},
      {"clientname", "", Kind::kText, "admin", false, {}, INT64_MIN, INT64_MAX, "User"},
      {"pool", "", Kind::kText, "", true, {}, INT64_MIN, INT64_MAX, "Pool of the image"},
      {"rbdname", "", Kind::kText, "", true, {}, INT64_MIN, INT64_MAX, "Image"},
      {"busy_poll", "", Kind::kBool, "0", false, {}, INT64_MIN, INT64_MAX, "Accepted"},
  };
  static const EngineOption uring[] = {
      {"fixedbufs", "", Kind::kFlag, "0", false, {}, INT64_MIN, INT64_MAX, "Registered buffers"},
      {"force_async", "", Kind::kInteger, "0", false, {}, 0, 1000, "Every N-th"},
  };
  static const EngineDescription engines[] = {
      {"null", "Does nothing", {}, 65536, false},
      {"psync", "pread and pwrite", {}, 65536, true},
      {"io_uring", "io_uring", uring, 4096, false},
      {"rbd", "librbd", rbd, 65536, false},
  };
  return engines;
}

}  // namespace cephmark
