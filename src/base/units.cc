#include "base/units.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/time.h"

namespace cephmark {
namespace {

struct NumberAndUnit {
  double number;
  std::string unit;
};

NumberAndUnit split(std::string_view text, std::string_view what) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number < 0)
    throw UsageError(fmt::format("{}: '{}' is not a number with a unit", what, text),
                     "write for example 20G or 30s");
  std::string unit(end, text.data() + text.size());
  while (!unit.empty() && unit.front() == ' ') unit.erase(unit.begin());
  return {number, unit};
}

std::string three_digits(double value) {
  if (value == std::floor(value) && value < 10000) return fmt::format("{:.0f}", value);
  if (value < 10) return fmt::format("{:.2f}", value);
  if (value < 100) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

}  // namespace

uint64_t parse_size(std::string_view text, std::string_view what) {
  const auto [number, unit] = split(text, what);
  if (unit.empty())
    throw UsageError(fmt::format("{}: '{}' has no unit", what, text),
                     fmt::format("{0}B is {0} bytes, {0}M is {0} MiB: say which", text));
  double factor = 0;
  if (unit == "B") {
    factor = 1;
  } else {
    static constexpr std::string_view kLetters = "KMGTP";
    const size_t power = kLetters.find(static_cast<char>(std::toupper(unit[0])));
    const std::string rest = unit.substr(1);
    if (power != std::string_view::npos) {
      if (rest.empty() || rest == "i" || rest == "iB") factor = std::pow(1024.0, power + 1.0);
      if (rest == "B") factor = std::pow(1000.0, power + 1.0);
    }
  }
  const double bytes = number * factor;
  if (factor == 0)
    throw UsageError(fmt::format("{}: unknown unit '{}' in '{}'", what, unit, text),
                     "B, K, M, G, T, P (powers of 1024), KiB..PiB, or kB, MB..PB (powers of 1000)");
  if (bytes >= 0x1p63) throw UsageError(fmt::format("{}: '{}' is too large", what, text));
  return static_cast<uint64_t>(std::llround(bytes));
}

int64_t parse_duration_ns(std::string_view text, std::string_view what) {
  const auto [number, unit] = split(text, what);
  if (unit.empty())
    throw UsageError(fmt::format("{}: '{}' has no unit", what, text),
                     fmt::format("{0}s is {0} seconds, {0}m is {0} minutes: say which", text));
  double factor = 0;
  if (unit == "ns") factor = 1;
  if (unit == "us") factor = kNsPerUs;
  if (unit == "ms") factor = kNsPerMs;
  if (unit == "s") factor = kNsPerSecond;
  if (unit == "m" || unit == "min") factor = 60.0 * kNsPerSecond;
  if (unit == "h") factor = 3600.0 * kNsPerSecond;
  if (unit == "d") factor = 86400.0 * kNsPerSecond;
  if (factor == 0)
    throw UsageError(fmt::format("{}: unknown unit '{}' in '{}'", what, unit, text),
                     "ns, us, ms, s, m, h or d");
  if (number * factor >= 0x1p62) throw UsageError(fmt::format("{}: '{}' is too long", what, text));
  return std::llround(number * factor);
}

std::string format_size(uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  int unit = 0;
  double value = static_cast<double>(bytes);
  while (value >= 1024 && unit < 6) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", three_digits(value), kUnits[unit]);
}

std::string format_rate(double bytes_per_second) {
  static constexpr const char* kUnits[] = {"B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s"};
  int unit = 0;
  while (bytes_per_second >= 1024 && unit < 4) {
    bytes_per_second /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", three_digits(bytes_per_second), kUnits[unit]);
}

std::string format_duration(int64_t ns) {
  if (ns < 0) return "-" + format_duration(-ns);
  const double value = static_cast<double>(ns);
  if (ns < kNsPerUs) return fmt::format("{} ns", ns);
  if (ns < kNsPerMs) return fmt::format("{} us", three_digits(value / kNsPerUs));
  if (ns < kNsPerSecond) return fmt::format("{} ms", three_digits(value / kNsPerMs));
  if (ns < 60 * kNsPerSecond) return fmt::format("{} s", three_digits(value / kNsPerSecond));
  const int64_t seconds = (ns + kNsPerSecond / 2) / kNsPerSecond;
  if (seconds < 3600) return fmt::format("{}m {:02}s", seconds / 60, seconds % 60);
  return fmt::format("{}h {:02}m", seconds / 3600, seconds / 60 % 60);
}

std::string format_count(uint64_t value) {
  std::string text = std::to_string(value);
  for (int i = static_cast<int>(text.size()) - 3; i > 0; i -= 3) text.insert(i, ",");
  return text;
}

}  // namespace cephmark
