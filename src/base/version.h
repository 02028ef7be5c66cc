// The program's version, one place.
#pragma once

namespace cephmark {
inline constexpr const char* kVersion = "0.1.0";
}
