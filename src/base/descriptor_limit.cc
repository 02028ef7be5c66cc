#include "base/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

namespace cephmark {

uint64_t raise_descriptor_limit(uint64_t needed) {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return needed;  // then the open will tell
  if (limit.rlim_cur >= needed) return limit.rlim_cur;
  const rlim_t before = std::exchange(limit.rlim_cur, std::min<rlim_t>(needed, limit.rlim_max));
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
}

}  // namespace cephmark
