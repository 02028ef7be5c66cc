// host_name: what the kernel calls this machine. Any thread.
#pragma once

#include <string>

namespace cephmark {

/// Throws Error where there is none.
std::string host_name();

}  // namespace cephmark
