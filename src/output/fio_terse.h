// fio_terse: fio's semicolon-separated report, written from the document that is its JSON, one line
// per job. Versions 2 to 5 (reports of 3 are what most scripts read). Pure functions.
#pragma once

#include <string>

#include "base/json.h"

namespace cephmark {

inline constexpr int kFioTerseVersion = 3;  ///< fio's default
constexpr bool is_fio_terse_version(int version) {
  return version >= 2 && version <= 5;
}

/// A line per entry of "jobs", each with its line end.
std::string fio_terse_text(const Json& document, int version = kFioTerseVersion);

}  // namespace cephmark
