// fio_format: how fio serialises JSON: two blanks of indent, `"key" : value`, %f floats, and
// nothing escaped that need not be. Pure function.
#pragma once

#include <string>

#include "base/json.h"

namespace cephmark {

/// The document with a final newline. Floats must be finite.
std::string fio_format(const Json& document);

}  // namespace cephmark
