// text_rules: which bytes of a job file may stand in reports and on a terminal. Pure function, any
// thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace cephmark {

/// Length of the prefix that is valid UTF-8 without control characters (the tab may stand; U+0080
/// to U+009F, which terminals obey too, may not); the whole length when all of it is.
size_t plain_text_length(std::string_view text);

}  // namespace cephmark
