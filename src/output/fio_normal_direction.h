// fio_normal_direction: the lines of one direction ("read: IOPS=...") and of the syncs in fio's
// normal report, written from the JSON objects of the same name. Pure functions.
#pragma once

#include <string>

#include "base/json.h"

namespace cephmark {

/// `name`: "read", "write", "trim", "mixed". Empty text when nothing ran.
std::string fio_direction_lines(const Json& direction, const char* name);

/// "fsync/fdatasync/..." with its latencies; empty when nothing was synced.
std::string fio_sync_lines(const Json& sync);

}  // namespace cephmark
