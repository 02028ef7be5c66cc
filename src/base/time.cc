#include "base/time.h"

#include <fmt/format.h>

namespace cephmark {

std::string local_time_text(int64_t wall_ns) {
  const time_t seconds = wall_ns / kNsPerSecond;
  tm parts{};
  localtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string utc_time_text(int64_t wall_ns) {
  const time_t seconds = wall_ns / kNsPerSecond;
  tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900,
                     parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                     (wall_ns / kNsPerMs) % 1000);
}

}  // namespace cephmark
