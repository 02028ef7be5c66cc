#include "job/job_draft.h"

#include <fmt/format.h>

namespace cephmark {

void OptionInput::error(const std::string& message, const std::string& hint) const {
  diagnostics.error(value_where, fmt::format("{}: {}", name, message), hint);
}

void OptionInput::warn(const std::string& message, const std::string& hint) const {
  diagnostics.warn(value_where, fmt::format("{}: {}", name, message), hint);
}

std::optional<NumberReading> OptionInput::number(std::string_view part, NumberKind kind,
                                                 unsigned kb_base) const {
  NumberReading reading = read_number(part, kind, kb_base);
  if (!reading.ok()) {
    const bool decimal_unit = kind != NumberKind::kBytes;
    error(reading.problem, decimal_unit ? "a whole number with us, ms, s, m, h or d"
                                        : "a whole number, with k, m, g or t where it is a size");
    return std::nullopt;
  }
  if (reading.value < 0) {
    error(fmt::format("\"{}\" is below zero", part));
    return std::nullopt;
  }
  if (reading.iec_trap)
    diagnostics.warn_once("iec", value_where, fmt::format("{}: {}", name, reading.trap),
                          "write K, M, G for powers of 1024, or set kb_base=1000");
  else if (!reading.trap.empty() && !part.empty() && (part.front() == ' ' || part.front() == '\t'))
    warn(reading.trap, fmt::format("write {}={} for the unit to count", name,
                                   part.substr(part.find_first_not_of(" \t"))));
  else if (!reading.trap.empty())
    warn(reading.trap, "the value is kept as fio reads it; write what you mean");
  return reading;
}

}  // namespace cephmark
