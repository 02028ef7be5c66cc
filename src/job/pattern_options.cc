#include <fmt/format.h>

#include <algorithm>

#include "job/option_setters.h"

namespace cephmark::setters {

namespace {

struct RwRow {
  std::string_view name;
  bool reads, writes, trims, random, trim_then_write;
};

constexpr RwRow kRwRows[] = {
    {"read", true, false, false, false, false},
    {"write", false, true, false, false, false},
    {"trim", false, false, true, false, false},
    {"randread", true, false, false, true, false},
    {"randwrite", false, true, false, true, false},
    {"randtrim", false, false, true, true, false},
    {"rw", true, true, false, false, false},
    {"readwrite", true, true, false, false, false},
    {"randrw", true, true, false, true, false},
    {"trimwrite", false, true, true, false, true},
    {"randtrimwrite", false, true, true, true, true},
};

std::vector<std::string_view> rw_names() {
  std::vector<std::string_view> names;
  for (const RwRow& row : kRwRows) names.push_back(row.name);
  return names;
}

constexpr size_t kMaxZones = 256;  ///< fio's own limit (ZONESPLIT_MAX)

/// "50/10:30/15:20/75" of one direction. False: an error was said.
bool read_zones(JobDraft& draft, const OptionInput& input, std::string_view text, bool absolute,
                std::vector<DistributionZone>* zones) {
  double access = 0, size = 0;
  int without_size = 0;
  while (!text.empty()) {
    const size_t cut = std::min(text.find(':'), text.size());
    const std::string_view part = text.substr(0, cut);
    text.remove_prefix(std::min(cut + 1, text.size()));
    const size_t slash = part.find('/');
    std::string_view rest;
    const auto share = read_fraction(part.substr(0, slash), &rest);
    const std::string_view size_text =
        slash == std::string_view::npos ? std::string_view() : part.substr(slash + 1);
    if (!share || !rest.empty() || *share < 0 || (absolute && size_text.empty())) {
      input.error(
          fmt::format("\"{}\" is not a zone", part),
          absolute ? "write ACCESS_PERCENT/SIZE:..., for example zoned_abs:60/20G:30/100G:10/500G"
                   : "write ACCESS_PERCENT/SIZE_PERCENT:..., for example zoned:60/10:30/20:10/70");
      return false;
    }
    if (zones->size() == kMaxZones) {
      input.error(fmt::format("more than {} zones", kMaxZones));
      return false;
    }
    DistributionZone zone;
    zone.access_percent = *share;
    const auto reading =
        input.number(size_text.empty() ? "0" : size_text, NumberKind::kBytes, draft.kb_base);
    if (!reading) return false;
    without_size += !absolute && reading->value == 0;
    if (absolute)
      zone.size_bytes = static_cast<uint64_t>(reading->value);
    else
      zone.size_percent = static_cast<double>(reading->value);
    access += zone.access_percent;
    size += zone.size_percent;
    zones->push_back(zone);
  }
  if (access != 100) {
    input.error(fmt::format("the access shares add up to {} %, not 100", access));
    return false;
  }
  if (!absolute && size > 100) {
    input.error(fmt::format("the zones cover {} % of the target, more than all of it", size));
    return false;
  }
  // As with fio, zones without a size share what the others leave.
  if (without_size > 0 && size >= 100) {
    input.error("the zones with a size leave nothing for those without one");
    return false;
  }
  for (DistributionZone& zone : *zones)
    if (!absolute && zone.size_percent == 0) zone.size_percent = (100 - size) / without_size;
  return true;
}

void read_zoned(JobDraft& draft, const OptionInput& input, std::string_view text, bool absolute) {
  std::vector<Distribution> read;
  while (true) {
    const size_t cut = text.find(',');
    Distribution distribution;
    distribution.kind = absolute ? Distribution::Kind::kZonedAbsolute : Distribution::Kind::kZoned;
    if (!read_zones(draft, input, text.substr(0, std::min(cut, text.size())), absolute,
                    &distribution.zones))
      return;
    read.push_back(std::move(distribution));
    if (cut == std::string_view::npos) break;
    text.remove_prefix(cut + 1);
    if (read.size() == kDirectionCount) {
      input.error("more than three lists of zones (read, write, trim)");
      return;
    }
  }
  for (size_t i = 0; i < kDirectionCount; ++i)
    draft.spec.random_distribution[i] = read[std::min(i, read.size() - 1)];
}

/// "PARAMETER[:CENTER]" behind the name.
bool read_parameters(const OptionInput& input, std::string_view text, Distribution* distribution) {
  std::string_view rest;
  const auto parameter = read_fraction(text, &rest);
  std::optional<double> center;
  bool good = parameter && (rest.empty() || rest.front() == ':');
  if (good && !rest.empty()) {
    center = read_fraction(rest.substr(1));
    good = center.has_value();
  }
  if (!good) {
    input.error(fmt::format("\"{}\" is not a parameter", text), "a number, or NUMBER:CENTER");
    return false;
  }
  distribution->parameter = *parameter;
  if (center) {
    if (*center < 0 || *center > 1) {
      input.error(fmt::format("the center {} is out of range (0 to 1)", *center));
      return false;
    }
    distribution->center = *center;
  }
  return true;
}

}  // namespace

void rw(JobDraft& draft, const OptionInput& input) {
  const size_t cut = std::min(input.text.find_first_of(":,"), input.text.size());
  const std::string_view word = input.text.substr(0, cut);
  static const std::vector<std::string_view> kNames = rw_names();
  if (!check_choice(input, word, kNames)) return;
  RwMode mode;
  for (const RwRow& row : kRwRows)
    if (row.name == word)
      mode = {row.reads, row.writes,           row.trims, row.random, row.trim_then_write,
              0,         std::string(row.name)};
  if (cut < input.text.size() && input.text[cut] == ':') {
    const std::string_view postfix = input.text.substr(cut + 1);
    const NumberReading reading = read_number(postfix, NumberKind::kBytes, draft.kb_base);
    if (!reading.ok() || reading.percent || (mode.random && reading.value < 1)) {
      input.error(fmt::format("\"{}\" is not a count behind {}", postfix, word),
                  mode.random
                      ? "randread:N does N sequential I/Os at each random offset"
                      : "read:N leaves a hole of N bytes between I/Os (below zero: backwards)");
      return;
    }
    mode.postfix = reading.value;
    if (!reading.trap.empty()) input.warn(reading.trap);
  } else if (cut < input.text.size()) {
    input.warn(fmt::format("fio ignores what follows \"{}\"", word));
  }
  draft.spec.rw = mode;
}

void file_service_type(JobDraft& draft, const OptionInput& input) {
  static constexpr std::string_view kNames[] = {"roundrobin", "sequential"};
  static constexpr std::string_view kOnlyFios[] = {"random", "zipf", "pareto", "normal", "gauss"};
  const std::string_view word = input.text.substr(0, input.text.find(':'));
  if (std::find(std::begin(kOnlyFios), std::end(kOnlyFios), word) != std::end(kOnlyFios) ||
      word.size() < input.text.size())
    return input.error(fmt::format("\"{}\" is not honoured by cephmark", input.text),
                       "the values that are: roundrobin or sequential");
  if (check_choice(input, input.text, kNames))
    draft.spec.file_service_type =
        input.text == "sequential" ? FileService::kSequential : FileService::kRoundRobin;
}

void random_distribution(JobDraft& draft, const OptionInput& input) {
  static constexpr std::string_view kNames[] = {"random", "zipf",  "pareto",
                                                "normal", "zoned", "zoned_abs"};
  const size_t colon = std::min(input.text.find(':'), input.text.size());
  const std::string_view word = input.text.substr(0, colon);
  if (!check_choice(input, word, kNames)) return;
  const bool has_parameter = colon + 1 < input.text.size();
  const std::string_view parameter =
      has_parameter ? input.text.substr(colon + 1) : std::string_view();
  if (word == "zoned" || word == "zoned_abs") {
    read_zoned(draft, input, parameter, word == "zoned_abs");
    return;
  }
  Distribution distribution;
  if (word == "zipf") {
    distribution.kind = Distribution::Kind::kZipf;
    distribution.parameter = 1.1;
  }
  if (word == "pareto") {
    distribution.kind = Distribution::Kind::kPareto;
    distribution.parameter = 0.2;
  }
  if (word == "normal") distribution.kind = Distribution::Kind::kNormal;
  if (word == "random" && has_parameter) {
    input.error("random takes no parameter");
    return;
  }
  if (has_parameter && !read_parameters(input, parameter, &distribution)) return;
  const double value = distribution.parameter;
  if (word == "zipf" && (value == 1 || value <= 0 || value > 100)) {
    input.error(fmt::format("zipf: theta is {}; it must be above 0, at most 100 and not 1", value));
  } else if (word == "pareto" && (value <= 0 || value >= 1)) {
    input.error(fmt::format("pareto: {} is out of range (above 0, below 1)", value));
  } else if (word == "normal" && (value <= 0 || value >= 100)) {
    input.error(
        fmt::format("normal: a deviation of {} % is out of range (above 0, below 100)", value),
        "in per cent of the region, for example normal:20");
  } else {
    draft.spec.random_distribution.fill(distribution);
  }
}

}  // namespace cephmark::setters
