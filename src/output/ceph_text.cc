#include "output/ceph_text.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string_view>

namespace cephmark {

std::string ceph_size_text(uint64_t bytes) {
  static constexpr std::array<std::string_view, 7> kUnits = {"B",   "KiB", "MiB", "GiB",
                                                             "TiB", "PiB", "EiB"};
  static constexpr size_t kRoom = 7;
  size_t power = 0;
  while (power + 1 < kUnits.size() && bytes >> (10 * (power + 1))) ++power;
  const uint64_t unit = uint64_t{1} << (10 * power);
  if (bytes % unit == 0) return fmt::format("{} {}", bytes / unit, kUnits[power]);
  std::string text;
  for (int decimals = 2; decimals >= 0; --decimals) {
    text = fmt::format("{:.{}f} {}", static_cast<double>(bytes) / static_cast<double>(unit),
                       decimals, kUnits[power]);
    if (text.size() <= kRoom) break;
  }
  return text;
}

std::string ceph_errno_text(int error) {
  return fmt::format("({}) {}", error, std::strerror(error));
}

}  // namespace cephmark
