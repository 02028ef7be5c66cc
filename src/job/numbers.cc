#include "job/numbers.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>

#include "base/units.h"

namespace cephmark {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_alpha(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0;
}
bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
bool is_separator(char c) {
  return c == ':' || c == '-' || c == ',' || c == '/';
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

/// strtoll in base 10, or in base 16 when "0x" stands anywhere. False: no digits, or out of range.
bool read_digits(std::string_view text, int64_t* value, size_t* used, bool* overflow, bool* hex) {
  *hex = text.find("0x") != std::string_view::npos || text.find("0X") != std::string_view::npos;
  size_t i = 0;
  while (i < text.size() && is_space(text[i])) ++i;
  bool negative = false;
  if (i < text.size() && (text[i] == '+' || text[i] == '-')) negative = text[i++] == '-';
  if (*hex && i + 2 < text.size() && text[i] == '0' && (text[i + 1] == 'x' || text[i + 1] == 'X') &&
      std::isxdigit(static_cast<unsigned char>(text[i + 2])))
    i += 2;
  uint64_t magnitude = 0;
  const auto [end, error] =
      std::from_chars(text.data() + i, text.data() + text.size(), magnitude, *hex ? 16 : 10);
  *used = static_cast<size_t>(end - text.data());
  if (error == std::errc::invalid_argument) return false;
  *overflow = error == std::errc::result_out_of_range ||
              magnitude > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  *value = *overflow ? 0 : static_cast<int64_t>(magnitude) * (negative ? -1 : 1);
  return true;
}

/// Where fio looks for the unit: behind digits that begin at the very first character. A blank or a
/// '.' in front of it hides the unit.
std::string_view unit_of(std::string_view text, bool allow_percent) {
  size_t i = 0;
  bool digit_seen = false;
  while (i < text.size() &&
         (is_digit(text[i]) || ((text[i] == '+' || text[i] == '-') && !digit_seen))) {
    digit_seen |= is_digit(text[i]);
    ++i;
  }
  if (i >= text.size() || !(is_alpha(text[i]) || (allow_percent && text[i] == '%'))) return {};
  return text.substr(i);
}

struct SizeUnit {
  int power = 0;
  unsigned base = 1;
  bool percent = false, iec = false, known = true;
};

SizeUnit size_unit(std::string_view unit_text, unsigned kb_base) {
  std::string unit = lower(unit_text);
  for (size_t i = 0; i < unit.size(); ++i)
    if (is_separator(unit[i])) unit.resize(i);
  SizeUnit out;
  if (unit.empty()) return out;
  if (unit[0] == '%') {
    out.percent = true;
    out.known = unit.size() == 1;
    return out;
  }
  constexpr std::string_view kLetters = "kmgtp";
  const size_t power = kLetters.find(unit[0]);
  if (power == std::string_view::npos) {
    out.known = unit == "b";
    return out;
  }
  out.power = static_cast<int>(power) + 1;
  out.base = kb_base;
  if (starts_with(std::string_view(unit).substr(1), "ib")) {
    out.iec = true;
    out.base =
        kb_base == 1000 ? 1024 : 1000;  // fio's inversion, kept on purpose by its maintainers
    out.known = unit.size() == 3;
  } else {
    const std::string_view rest = std::string_view(unit).substr(1);
    out.known = rest.empty() || rest == "b" || rest == "i";
  }
  return out;
}

/// Microseconds of one unit, and whether fio knows the unit.
int64_t time_unit(std::string_view unit_text, bool seconds, bool* known) {
  *known = true;
  if (unit_text.empty()) return seconds ? 1'000'000 : 1;
  const std::string unit = lower(unit_text);
  if (starts_with(unit, "us")) {
    *known = unit == "us" || unit == "usec";
    return 1;
  }
  if (starts_with(unit, "ms")) {
    *known = unit == "ms" || unit == "msec";
    return 1000;
  }
  if (unit == "s") return 1'000'000;
  if (unit == "m") return 60'000'000;
  if (unit == "h") return 3'600'000'000;
  if (unit == "d") return 86'400'000'000;
  *known = false;
  return 1;
}

std::string plain_reading(const NumberReading& reading, NumberKind kind) {
  if (reading.percent) return fmt::format("{} %", reading.value);
  if (kind == NumberKind::kBytes) return fmt::format("{}", reading.value);
  return fmt::format("{} us", reading.value);
}

/// Says what a person may have meant otherwise.
void find_traps(std::string_view text, NumberKind kind, bool hex, size_t digits_end,
                std::string_view unit, bool unit_known, NumberReading* reading) {
  const bool blank_first = !text.empty() && is_space(text.front());
  const std::string_view tail = text.substr(digits_end);
  const std::string value = plain_reading(*reading, kind);
  if (blank_first && !tail.empty() && !is_separator(tail[0])) {
    reading->trap =
        fmt::format("\"{}\" is read as {}: fio sees no unit behind a blank after '='", text, value);
  } else if (!tail.empty() && tail[0] == '.') {
    reading->trap = fmt::format("\"{}\" is read as {}: fio drops decimals and the unit behind them",
                                text, value);
  } else if (hex && !starts_with(lower(text), "0x")) {
    reading->trap = fmt::format(
        "\"{}\" is read as {}: a number with 0x in it is hexadecimal to fio", text, value);
  } else if (hex && !tail.empty() && !is_separator(tail[0])) {
    reading->trap =
        fmt::format("\"{}\" is read as {}: fio knows no units behind hexadecimal", text, value);
  } else if (!unit.empty() && !unit_known) {
    reading->trap =
        kind == NumberKind::kBytes
            ? fmt::format(
                  "\"{}\" is read as {}: fio takes what it knows of the unit and ignores the rest",
                  text, value)
            : fmt::format(
                  "\"{}\" is read as {}: fio knows us, ms, s, m, h and d, anything else is "
                  "microseconds",
                  text, value);
  } else if (unit.empty() && !tail.empty() && !is_separator(tail[0]) && !hex) {
    reading->trap = fmt::format("\"{}\" is read as {}: fio ignores what follows", text, value);
  }
}

/// Recursive descent over + - * / % and brackets; depth is bounded. `unit` says what one of a unit
/// ("k", "ms") is; without it numbers have none.
class Arithmetic {
 public:
  using Unit = std::function<std::optional<int64_t>(std::string_view name)>;
  explicit Arithmetic(std::string_view text, Unit unit = {})
      : text_(text), unit_(std::move(unit)) {}
  bool had_units() const { return had_units_; }
  std::optional<int64_t> whole() {
    const int64_t value = sum(0);
    skip();
    if (failed_ || at_ != text_.size()) return std::nullopt;
    return value;
  }

 private:
  void skip() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  int64_t fail() {
    failed_ = true;
    return 0;
  }

  int64_t sum(int depth) {
    int64_t value = product(depth);
    while (!failed_) {
      if (take('+')) {
        if (__builtin_add_overflow(value, product(depth), &value)) return fail();
      } else if (take('-')) {
        if (__builtin_sub_overflow(value, product(depth), &value)) return fail();
      } else
        break;
    }
    return value;
  }

  int64_t product(int depth) {
    int64_t value = factor(depth);
    while (!failed_) {
      const bool times = take('*');
      const bool over = !times && take('/');
      if (!times && !over && !take('%')) break;
      const int64_t right = factor(depth);
      if (times) {
        if (__builtin_mul_overflow(value, right, &value)) return fail();
      } else if (right == 0 || (right == -1 && value == INT64_MIN))
        return fail();
      else
        value = over ? value / right : value % right;
    }
    return value;
  }

  int64_t factor(int depth) {
    if (depth > 32 || failed_) return fail();
    if (take('(')) {
      const int64_t value = sum(depth + 1);
      return take(')') ? value : fail();
    }
    if (take('-')) {
      const int64_t value = factor(depth + 1);
      return value == INT64_MIN ? fail() : -value;
    }
    skip();
    int64_t value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || !is_digit(text_[at_])) return fail();
    at_ = static_cast<size_t>(end - text_.data());
    size_t name_end = at_;
    while (name_end < text_.size() && is_alpha(text_[name_end])) ++name_end;
    if (name_end == at_ || !unit_) return value;
    const auto one = unit_(text_.substr(at_, name_end - at_));
    if (!one || __builtin_mul_overflow(value, *one, &value)) return fail();
    at_ = name_end;
    had_units_ = true;
    return value;
  }

  std::string_view text_;
  Unit unit_;
  size_t at_ = 0;
  bool failed_ = false, had_units_ = false;
};

/// "(...)" and nothing behind it: whole numbers, each with its unit or none. A time without any
/// unit in it has the option's own.
NumberReading read_brackets(std::string_view text, NumberKind kind, unsigned kb_base) {
  NumberReading reading;
  const bool is_size = kind == NumberKind::kBytes, seconds = kind == NumberKind::kSeconds;
  Arithmetic arithmetic(text, [&](std::string_view name) -> std::optional<int64_t> {
    if (!is_size) {
      bool known = false;
      const int64_t one = time_unit(name, seconds, &known);
      return known ? std::optional(one) : std::nullopt;
    }
    const SizeUnit size = size_unit(name, kb_base);
    if (!size.known || size.percent) return std::nullopt;
    reading.iec_trap |= size.iec && kb_base == 1024;
    int64_t one = 1;
    for (int i = 0; i < size.power; ++i) one *= size.base;
    return one;
  });
  const auto value = arithmetic.whole();
  const int64_t implied = seconds && !arithmetic.had_units() ? 1'000'000 : 1;
  if (!value || *value < 0 || __builtin_mul_overflow(*value, implied, &reading.value)) {
    reading.problem = fmt::format(
        "\"{}\" is no sum that can be worked out: whole numbers with their units, + - * / % and "
        "brackets around all of it",
        text);
    return reading;
  }
  reading.trap = fmt::format("\"{}\" is read as {}: many builds of fio take no brackets in numbers",
                             text, plain_reading(reading, kind));
  if (reading.iec_trap)
    reading.trap += "; under kb_base=1024 fio's KiB, MiB, GiB are powers of 1000";
  return reading;
}

}  // namespace

NumberReading read_number(std::string_view text, NumberKind kind, unsigned kb_base) {
  NumberReading reading;
  size_t digits_end = 0;
  bool overflow = false, hex = false;
  if (!text.empty() && text.front() == '(') return read_brackets(text, kind, kb_base);
  if (!read_digits(text, &reading.value, &digits_end, &overflow, &hex)) {
    reading.problem = fmt::format("\"{}\" is not a number", text);
    return reading;
  }
  const bool is_size = kind == NumberKind::kBytes;
  const std::string_view unit = unit_of(text, is_size);
  bool unit_known = true;
  int64_t factor = 1;
  if (is_size) {
    const SizeUnit size = size_unit(unit, kb_base);
    unit_known = size.known || hex;
    reading.percent = size.percent;
    for (int i = 0; i < size.power; ++i) factor *= size.base;
    if (size.iec && kb_base == 1024) reading.iec_trap = true;
  } else {
    factor = time_unit(unit, kind == NumberKind::kSeconds, &unit_known);
  }
  if (overflow || __builtin_mul_overflow(reading.value, factor, &reading.value)) {
    reading.problem = fmt::format("\"{}\" is larger than fits", text);
    return reading;
  }
  find_traps(text, kind, hex, digits_end, unit, unit_known, &reading);
  if (reading.trap.empty() && reading.iec_trap)
    reading.trap = fmt::format(
        "\"{}\" is read as {}: under kb_base=1024 fio's KiB, MiB, GiB are powers of 1000 and "
        "its KB, MB, GB powers of 1024",
        text, reading.value);
  else
    reading.iec_trap = false;
  return reading;
}

ValueList split_values(std::string_view text) {
  ValueList list;
  if (!text.empty() && text.front() == '(' && text.back() == ')') {
    list.parts.push_back(text);  // a sum: its signs separate nothing
    return list;
  }
  while (true) {
    size_t cut = text.find(',');
    if (cut != std::string_view::npos && cut + 1 == text.size()) {
      text.remove_suffix(1);
      cut = std::string_view::npos;
    }
    if (cut == std::string_view::npos) {
      cut = text.find(':');
      // A sign in front is no separator.
      size_t digits = 0;
      while (digits < text.size() && (is_space(text[digits]) || text[digits] == '-')) ++digits;
      if (cut == std::string_view::npos) cut = text.find('-', digits);
      if (cut != std::string_view::npos) list.dash_split = true;
    }
    list.parts.push_back(text.substr(0, std::min(cut, text.size())));
    if (cut == std::string_view::npos) return list;
    text.remove_prefix(cut + 1);
    if (list.parts.size() > 8) return list;  // nothing takes more than three
  }
}

std::optional<unsigned long> read_bool(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  unsigned long value = 0;
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    text.remove_prefix(2);
    base = 16;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::optional<double> read_fraction(std::string_view text, std::string_view* rest) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  if (text.empty() || !(is_digit(text[0]) || text[0] == '.' || text[0] == '-')) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  if (rest)
    *rest = text;
  else if (!text.empty())
    return std::nullopt;
  return value;
}

std::optional<int64_t> evaluate_arithmetic(std::string_view text) {
  return Arithmetic(text).whole();
}

}  // namespace cephmark
