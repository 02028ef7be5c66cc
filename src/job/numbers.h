// numbers: fio's rules for integers, sizes, times, lists and ranges, value for value, and the traps
// in them. Pure functions. Rules read from fio 3.33's parse.c and checked against the real program
// (tests/peer). Our own command line has saner rules: base/units.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cephmark {

enum class NumberKind : uint8_t {
  kBytes,         ///< also plain integers: fio multiplies "iodepth=1k" too
  kSeconds,       ///< a time whose bare number is seconds; value in microseconds
  kMicroseconds,  ///< a time whose bare number is microseconds; value in microseconds
};

/// What fio makes of a number, and what a person may not have meant by it.
struct NumberReading {
  int64_t value = 0;  ///< bytes, count, or microseconds; per cent when `percent`
  bool percent = false;
  std::string problem;  ///< why there is no value; empty: there is one
  std::string trap;     ///< fio's reading differs from what most people would expect; may be empty
  bool iec_trap = false;  ///< the trap is KiB = 1000: said once per file
  bool ok() const { return problem.empty(); }
};

/// Reads `text` up to the first ',', ':', '-' or '/' behind the digits (fio's separators in lists).
/// `kb_base`: 1024 (fio's default) or 1000. A text that begins with '(' is worked out as a whole
/// ("(4*1024)", "(1h+30m)"), as fio does where it was built with its arithmetic.
NumberReading read_number(std::string_view text, NumberKind kind, unsigned kb_base = 1024);

/// Splits "4k,8k" (or "4k:8k", "4k-8k": all the same to fio) into its parts; empty parts keep a
/// default. A trailing comma is dropped. `dash_split`: a ':' or '-' did it, which few people mean.
struct ValueList {
  std::vector<std::string_view> parts;
  bool dash_split = false;
};
ValueList split_values(std::string_view text);

/// fio's booleans: the digits in front count, the rest is ignored ("1abc" is 1). Nothing when there
/// are none.
std::optional<unsigned long> read_bool(std::string_view text);

/// A decimal fraction ("1.2", ".5", "1e-3"); nothing when it is not one, or not finite. `rest` gets
/// what follows.
std::optional<double> read_fraction(std::string_view text, std::string_view* rest = nullptr);

/// Whole-number arithmetic with + - * / % and brackets, as bc does it. Nothing for anything else,
/// division by zero or overflow.
std::optional<int64_t> evaluate_arithmetic(std::string_view text);

}  // namespace cephmark
