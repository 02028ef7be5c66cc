#include "output/fio_number.h"

#include <fmt/format.h>

#include <array>

namespace cephmark {
namespace {

constexpr std::array<const char*, 6> kDecimalPrefix = {"", "k", "M", "G", "T", "P"};
constexpr std::array<const char*, 6> kBinaryPrefix = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};

size_t digits_of(uint64_t number) {
  return std::to_string(number).size();
}

}  // namespace

std::string fio_number(uint64_t number, size_t digits, FioScale scale, const char* unit) {
  const auto& prefixes = scale == FioScale::kBinary ? kBinaryPrefix : kDecimalPrefix;
  const uint64_t step = scale == FioScale::kBinary ? 1024 : 1000;
  size_t prefix = 0;
  uint64_t rest = 0;
  while (prefix + 1 < prefixes.size() && digits_of(number) > digits) {
    rest = number % step;
    number /= step;
    ++prefix;
  }
  if (prefix == 0) return fmt::format("{}{}", number, unit);
  const size_t used = digits_of(number);
  const size_t decimals = digits > used + 1 ? digits - used - 1 : 0;
  if (decimals == 0) {
    if (rest >= step / 2) ++number;
    return fmt::format("{}{}{}", number, prefixes[prefix], unit);
  }
  std::string fraction =
      fmt::format("{:.{}f}", static_cast<double>(rest) / static_cast<double>(step), decimals);
  if (fraction[0] == '1') ++number;  // 6930.96 is 6931.0
  return fmt::format("{}.{}{}{}", number, fraction.substr(2), prefixes[prefix], unit);
}

std::string fio_rate_pair(uint64_t bytes_per_s) {
  return fmt::format("{} ({})", fio_number(bytes_per_s, 4, FioScale::kBinary, "B/s"),
                     fio_number(bytes_per_s, 4, FioScale::kDecimal, "B/s"));
}

}  // namespace cephmark
