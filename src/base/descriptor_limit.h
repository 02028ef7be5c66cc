// descriptor_limit: how many files this process may have open at once. Any thread.
#pragma once

#include <cstdint>

namespace cephmark {

/// Raises this process's limit of open descriptors as far as `needed` asks and the hard limit
/// allows. Returns the limit that then holds: below `needed` when it is not enough.
uint64_t raise_descriptor_limit(uint64_t needed);

}  // namespace cephmark
