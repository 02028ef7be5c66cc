#include <fmt/format.h>

#include <limits>

#include "base/spelling.h"
#include "job/option_setters.h"

namespace cephmark::setters {

namespace {

/// A plain integer between two bounds. fio reads lists here too and keeps the first (or, where
/// `last_wins`, the last).
std::optional<int64_t> integer(JobDraft& draft, const OptionInput& input, int64_t min, int64_t max,
                               bool last_wins = false) {
  const ValueList list = split_values(input.text);
  const std::string_view part = last_wins ? list.parts.back() : list.parts.front();
  const auto reading = input.number(part, NumberKind::kBytes, draft.kb_base);
  if (!reading) return std::nullopt;
  if (list.parts.size() > 1)
    input.warn(fmt::format("takes one value; of \"{}\" fio uses {}", input.text, reading->value));
  if (reading->percent) {
    input.error(fmt::format("\"{}\": takes no per cent sign", part));
    return std::nullopt;
  }
  if (reading->value < min || reading->value > max) {
    input.error(fmt::format("{} is out of range ({} to {})", reading->value, min, max));
    return std::nullopt;
  }
  return reading->value;
}

std::optional<bool> boolean(const OptionInput& input) {
  if (!input.has_value) return true;
  const auto value = read_bool(input.text);
  if (!value) {
    input.error(fmt::format("\"{}\" is not 0 or 1", input.text), "fio's booleans are 0 and 1");
    return std::nullopt;
  }
  if (*value > 1) {
    input.error(fmt::format("{} is out of range (0 or 1)", *value));
    return std::nullopt;
  }
  const std::string_view word =
      input.text.substr(std::min(input.text.find_first_not_of(" \t"), input.text.size()));
  if (word != "0" && word != "1")
    input.warn(fmt::format("\"{}\" is read as {}: fio ignores what follows", input.text, *value));
  return *value == 1;
}

/// A time in nanoseconds; a bare number is seconds.
std::optional<int64_t> time_ns(const OptionInput& input) {
  const auto reading = input.number(input.text, NumberKind::kSeconds, 1024);
  if (!reading) return std::nullopt;
  if (reading->value > std::numeric_limits<int64_t>::max() / 4000) {
    input.error(fmt::format("\"{}\" is longer than fits", input.text));
    return std::nullopt;
  }
  return reading->value * 1000;
}

void warn_of_quotes(const OptionInput& input) {
  if (input.text.find_first_of("\"'") != std::string_view::npos)
    input.warn("quotes are part of the value, as in fio", "leave them out");
}

template <typename T>
void assign(T& target, const std::optional<bool>& value) {
  if (value) target = *value;
}

}  // namespace

std::string list_choices(std::span<const std::string_view> choices) {
  std::string out;
  for (size_t i = 0; i < choices.size(); ++i)
    out += std::string(i == 0                    ? ""
                       : i + 1 == choices.size() ? " or "
                                                 : ", ") +
           std::string(choices[i]);
  return out;
}

bool check_choice(const OptionInput& input, std::string_view word,
                  std::span<const std::string_view> choices) {
  for (const std::string_view choice : choices)
    if (choice == word) return true;
  const std::string values = fmt::format("the values are {}", list_choices(choices));
  const size_t blanks = std::min(word.find_first_not_of(" \t"), word.size());
  if (blanks > 0) {
    input.error(fmt::format("\"{}\" begins with a blank, which is part of the value in fio", word),
                fmt::format("write {}={}", input.name, word.substr(blanks)));
    return false;
  }
  const std::vector<std::string> names(choices.begin(), choices.end());
  const std::string meant = word.size() > 64 ? "" : closest(word, names);
  input.error(fmt::format("\"{}\" is not a value of it", word),
              meant.empty() ? values : fmt::format("did you mean {}? {}", meant, values));
  return false;
}

std::vector<std::string> split_filenames(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  std::vector<std::string> names;
  std::string name;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == ':') {
      name += ':';
      ++i;
    } else if (text[i] == ':') {
      if (!name.empty()) names.push_back(std::move(name));
      name.clear();
    } else {
      name += text[i];
    }
  }
  if (!name.empty()) names.push_back(std::move(name));
  return names;
}

void description(JobDraft& draft, const OptionInput& input) {
  draft.spec.description = input.text;
}

void name(JobDraft& draft, const OptionInput& input) {
  warn_of_quotes(input);
  draft.spec.name = input.text;
}

void filename(JobDraft& draft, const OptionInput& input) {
  warn_of_quotes(input);
  draft.spec.filenames = split_filenames(input.text);
  if (draft.spec.filenames.empty()) input.error("names no file");
}

void directory(JobDraft& draft, const OptionInput& input) {
  warn_of_quotes(input);
  const auto names = split_filenames(input.text);
  if (names.empty()) return input.error("names no directory");
  draft.spec.directory = names.front();
  draft.spec.more_directories.assign(names.begin() + 1, names.end());
}

void ioengine(JobDraft& draft, const OptionInput& input) {
  draft.spec.ioengine = input.text;
}

void kb_base(JobDraft& draft, const OptionInput& input) {
  static constexpr std::string_view kValues[] = {"1024", "1000"};
  if (check_choice(input, input.text, kValues)) draft.kb_base = input.text == "1000" ? 1000 : 1024;
}

void numjobs(JobDraft& draft, const OptionInput& input) {
  if (const auto value = integer(draft, input, 1, 4096))
    draft.spec.numjobs = static_cast<int>(*value);
}

void nrfiles(JobDraft& draft, const OptionInput& input) {
  if (const auto value = integer(draft, input, 1, 1 << 24))
    draft.nrfiles = static_cast<int>(*value);
}

void iodepth(JobDraft& draft, const OptionInput& input) {
  if (const auto value = integer(draft, input, 1, INT32_MAX))
    draft.spec.iodepth = static_cast<unsigned>(*value);
}

void loops(JobDraft& draft, const OptionInput& input) {
  // fio takes loops=0 for loops=1.
  if (const auto value = integer(draft, input, 0, INT32_MAX))
    draft.spec.loops = std::max<int>(1, static_cast<int>(*value));
}

void fsync(JobDraft& draft, const OptionInput& input) {
  if (const auto value = integer(draft, input, 0, INT32_MAX))
    draft.spec.fsync = static_cast<int>(*value);
}

void fdatasync(JobDraft& draft, const OptionInput& input) {
  if (const auto value = integer(draft, input, 0, INT32_MAX))
    draft.spec.fdatasync = static_cast<int>(*value);
}

void number_ios(JobDraft& draft, const OptionInput& input) {
  if (const auto value = integer(draft, input, 0, INT64_MAX))
    draft.spec.number_ios = static_cast<uint64_t>(*value);
}

void randseed(JobDraft& draft, const OptionInput& input) {
  if (const auto value = integer(draft, input, 0, INT64_MAX))
    draft.spec.randseed = static_cast<uint64_t>(*value);
}

void rwmixread(JobDraft& draft, const OptionInput& input) {
  if (const auto value = integer(draft, input, 0, 100, true))
    draft.spec.rwmixread = static_cast<int>(*value);
}

void rwmixwrite(JobDraft& draft, const OptionInput& input) {
  if (const auto value = integer(draft, input, 0, 100, true))
    draft.spec.rwmixread = 100 - static_cast<int>(*value);
}

void buffer_compress_percentage(JobDraft& draft, const OptionInput& input) {
  if (const auto value = integer(draft, input, 0, 100))
    draft.spec.buffer_compress_percentage = static_cast<int>(*value);
}

void buffer_compress_chunk(JobDraft& draft, const OptionInput& input) {
  if (const auto value = integer(draft, input, 1, 1 << 30))
    draft.spec.buffer_compress_chunk = static_cast<uint64_t>(*value);
}

void direct(JobDraft& draft, const OptionInput& input) {
  assign(draft.spec.direct, boolean(input));
}

void buffered(JobDraft& draft, const OptionInput& input) {
  if (const auto value = boolean(input)) draft.spec.direct = !*value;
}

void sync(JobDraft& draft, const OptionInput& input) {
  static constexpr std::string_view kValues[] = {"none", "0", "sync", "1", "dsync"};
  if (!check_choice(input, input.text, kValues)) return;
  draft.spec.sync = input.text == "dsync"                       ? SyncWrites::kDsync
                    : input.text == "sync" || input.text == "1" ? SyncWrites::kSync
                                                                : SyncWrites::kNone;
}

void overwrite(JobDraft& draft, const OptionInput& input) {
  assign(draft.spec.overwrite, boolean(input));
}

void invalidate(JobDraft& draft, const OptionInput& input) {
  assign(draft.spec.invalidate, boolean(input));
}
void randrepeat(JobDraft& draft, const OptionInput& input) {
  assign(draft.spec.randrepeat, boolean(input));
}
void end_fsync(JobDraft& draft, const OptionInput& input) {
  assign(draft.spec.end_fsync, boolean(input));
}
void scramble_buffers(JobDraft& draft, const OptionInput& input) {
  assign(draft.spec.scramble_buffers, boolean(input));
}
void time_based(JobDraft& draft, const OptionInput& input) {
  assign(draft.spec.time_based, boolean(input));
}
void norandommap(JobDraft& draft, const OptionInput& input) {
  assign(draft.spec.norandommap, boolean(input));
}
void stonewall(JobDraft& draft, const OptionInput& input) {
  assign(draft.stonewall, boolean(input));
}
void new_group(JobDraft& draft, const OptionInput& input) {
  assign(draft.new_group, boolean(input));
}
void group_reporting(JobDraft& draft, const OptionInput& input) {
  assign(draft.spec.group_reporting, boolean(input));
}
void thread(JobDraft& draft, const OptionInput& input) {
  assign(draft.spec.thread, boolean(input));
}
void zero_buffers(JobDraft& draft, const OptionInput& input) {
  assign(draft.spec.zero_buffers, boolean(input));
}
void refill_buffers(JobDraft& draft, const OptionInput& input) {
  assign(draft.spec.refill_buffers, boolean(input));
}

void runtime(JobDraft& draft, const OptionInput& input) {
  if (const auto value = time_ns(input)) draft.spec.runtime_ns = *value;
}

void ramp_time(JobDraft& draft, const OptionInput& input) {
  if (const auto value = time_ns(input)) draft.spec.ramp_time_ns = *value;
}

void startdelay(JobDraft& draft, const OptionInput& input) {
  const auto first = time_ns(input);
  if (!first) return;
  draft.spec.startdelay_ns = *first;
  draft.spec.startdelay_max_ns = 0;
  // fio takes the text before and the text behind the dash; a unit of the first is lost on it.
  const size_t dash = input.text.find('-');
  if (dash == std::string_view::npos) return;
  OptionInput second = input;
  second.text = input.text.substr(dash + 1);
  const auto last = time_ns(second);
  if (!last) return;
  if (*last < *first)
    return input.error(fmt::format("\"{}\": the range ends before it begins", input.text));
  draft.spec.startdelay_max_ns = *last;
}

}  // namespace cephmark::setters
