#include <fmt/format.h>

#include <algorithm>

#include "job/option_setters.h"

namespace cephmark::setters {

namespace {

enum class Percent : uint8_t { kRefused, kUpTo100 };

void read_size(JobDraft& draft, const OptionInput& input, Percent percent, SizeSpec& target) {
  if (!input.text.empty() && (input.text.back() == 'z' || input.text.back() == 'Z')) {
    input.error(fmt::format(
        "\"{}\": sizes in zones need zonemode, which cephmark does not honour yet", input.text));
    return;
  }
  if (split_values(input.text).parts.size() > 1) {
    input.error(fmt::format("\"{}\" is a list; it takes one value", input.text));
    return;
  }
  const auto reading = input.number(input.text, NumberKind::kBytes, draft.kb_base);
  if (!reading) return;
  if (!reading->percent) {
    target = {SizeSpec::Kind::kBytes, static_cast<uint64_t>(reading->value)};
  } else if (percent == Percent::kRefused) {
    input.error(fmt::format("\"{}\": takes bytes, no per cent", input.text));
  } else if (reading->value > 100) {
    input.error(
        fmt::format("{} % is more than the whole target", reading->value),
        "per cent of the target's size, 0% to 100% (fio reads more than 100% as an endless job)");
  } else {
    target = {SizeSpec::Kind::kPercent, static_cast<uint64_t>(reading->value)};
  }
}

/// Calls `store(direction, part)` for the directions that "a", "a,b" and "a,b,c" speak of: one
/// value is for all, the last of two is for writes and trims, an empty part keeps the default.
template <typename Store>
void per_direction(const OptionInput& input, const std::vector<std::string_view>& parts,
                   Store store) {
  if (parts.size() > kDirectionCount) {
    input.error(fmt::format("\"{}\" has more than three values (read, write, trim)", input.text));
    return;
  }
  for (size_t direction = 0; direction < kDirectionCount; ++direction) {
    const std::string_view part = parts[std::min(direction, parts.size() - 1)];
    if (!part.empty()) store(direction, part);
  }
}

std::optional<uint64_t> direction_number(JobDraft& draft, const OptionInput& input,
                                         std::string_view part) {
  const auto reading = input.number(part, NumberKind::kBytes, draft.kb_base);
  if (!reading) return std::nullopt;
  if (reading->percent) {
    input.error(fmt::format("\"{}\": takes no per cent sign", part));
    return std::nullopt;
  }
  return static_cast<uint64_t>(reading->value);
}

constexpr uint64_t kMaxBlockBytes = uint64_t{1} << 30;  ///< of one I/O

bool check_block(const OptionInput& input, uint64_t bytes) {
  if (bytes >= 1 && bytes <= kMaxBlockBytes) return true;
  input.error(fmt::format("{} bytes is out of range (1 byte to 1 GiB)", bytes));
  return false;
}

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t cut = text.find(separator);
    parts.push_back(text.substr(0, std::min(cut, text.size())));
    if (cut == std::string_view::npos) return parts;
    text.remove_prefix(cut + 1);
  }
}

constexpr size_t kMaxSplits = 64;  ///< fio's own limit (BSSPLIT_MAX)

/// "512/25:1k/:2k/:4k/" -> splits in order of their share, which add up to 100.
std::vector<BlockSplit> read_splits(JobDraft& draft, const OptionInput& input,
                                    std::string_view text) {
  std::vector<BlockSplit> splits;
  int given = 0, missing = 0;
  for (const std::string_view part : split_at(text, ':')) {
    if (part.empty()) break;  // fio stops at an empty entry
    if (splits.size() == kMaxSplits) {
      input.error(fmt::format("more than {} sizes", kMaxSplits));
      return {};
    }
    const size_t slash = part.find('/');
    const auto bytes = direction_number(draft, input, part.substr(0, slash));
    if (!bytes || !check_block(input, *bytes)) return {};
    double percent = -1;  // not given, or 0: shares what is left
    if (slash != std::string_view::npos && slash + 1 < part.size()) {
      const NumberReading share = read_number(part.substr(slash + 1), NumberKind::kBytes);
      if (!share.ok() || share.value < 0) {
        input.error(fmt::format("\"{}\" is not a share in per cent", part.substr(slash + 1)));
        return {};
      }
      if (share.value > 0) percent = static_cast<double>(std::min<int64_t>(share.value, 100));
    }
    if (percent < 0)
      ++missing;
    else
      given += static_cast<int>(percent);
    splits.push_back({*bytes, percent});
  }
  if (splits.empty()) {
    input.error(fmt::format("\"{}\" has no sizes", text), "for example bssplit=4k/60:64k/40");
    return {};
  }
  if (given > 100 && missing > 0) {
    input.error(fmt::format("the shares add up to {} % and leave nothing for the sizes without one",
                            given));
    return {};
  }
  if (given != 100 && missing == 0)
    input.warn(fmt::format("the shares add up to {} %, not 100", given),
               given > 100 ? "as in fio, what is beyond 100 % is taken from the largest share"
                           : "as in fio, the largest share takes the rest");
  const int share_of_missing = missing ? (100 - given) / missing : 0;  // whole per cents, as fio
  for (BlockSplit& split : splits)
    if (split.percent < 0) split.percent = share_of_missing;
  std::stable_sort(splits.begin(), splits.end(),
                   [](const BlockSplit& a, const BlockSplit& b) { return a.percent < b.percent; });
  double sum = 0;
  for (size_t i = 0; i < splits.size(); ++i) {
    const double left = 100 - sum;
    splits[i].percent = i + 1 == splits.size() ? left : std::min(splits[i].percent, left);
    sum += splits[i].percent;
  }
  return splits;
}

}  // namespace

void size(JobDraft& draft, const OptionInput& input) {
  read_size(draft, input, Percent::kUpTo100, draft.spec.size);
}
void io_size(JobDraft& draft, const OptionInput& input) {
  read_size(draft, input, Percent::kUpTo100, draft.spec.io_size);
}
void filesize(JobDraft& draft, const OptionInput& input) {
  read_size(draft, input, Percent::kRefused, draft.spec.filesize);
}
void offset(JobDraft& draft, const OptionInput& input) {
  read_size(draft, input, Percent::kUpTo100, draft.spec.offset);
}
void offset_increment(JobDraft& draft, const OptionInput& input) {
  read_size(draft, input, Percent::kUpTo100, draft.spec.offset_increment);
}

void bs(JobDraft& draft, const OptionInput& input) {
  const ValueList list = split_values(input.text);
  if (list.dash_split)
    input.warn(fmt::format("\"{}\" is a list to fio: read, write, trim", input.text),
               "write bsrange=MIN-MAX for a range, bs=READ,WRITE for a list");
  per_direction(input, list.parts, [&](size_t direction, std::string_view part) {
    const auto bytes = direction_number(draft, input, part);
    if (bytes && check_block(input, *bytes)) draft.bs[direction] = *bytes;
  });
}

void bsrange(JobDraft& draft, const OptionInput& input) {
  per_direction(input, split_at(input.text, ','), [&](size_t direction, std::string_view part) {
    size_t dash = part.find('-');
    if (dash == std::string_view::npos) dash = part.find(':');
    if (dash == std::string_view::npos) {
      input.error(fmt::format("\"{}\" is not a range", part), "write MIN-MAX, for example 4k-64k");
      return;
    }
    auto min = direction_number(draft, input, part.substr(0, dash));
    auto max = direction_number(draft, input, part.substr(dash + 1));
    if (!min || !max || !check_block(input, *min) || !check_block(input, *max)) return;
    if (*min > *max) std::swap(*min, *max);
    draft.bsrange[direction] = BlockRange{*min, *max};
  });
}

void bssplit(JobDraft& draft, const OptionInput& input) {
  const auto parts = split_at(input.text, ',');
  // Unlike bs=, an empty part has no default to keep.
  if (std::find(parts.begin(), parts.end(), std::string_view()) != parts.end()) {
    input.error(fmt::format("\"{}\" has an empty list", input.text));
    return;
  }
  per_direction(input, parts, [&](size_t direction, std::string_view part) {
    draft.bssplit[direction] = read_splits(draft, input, part);
  });
}

void rate(JobDraft& draft, const OptionInput& input) {
  per_direction(input, split_values(input.text).parts,
                [&](size_t direction, std::string_view part) {
                  if (const auto value = direction_number(draft, input, part))
                    draft.spec.rate_bytes_per_s[direction] = *value;
                });
}

void rate_iops(JobDraft& draft, const OptionInput& input) {
  per_direction(input, split_values(input.text).parts,
                [&](size_t direction, std::string_view part) {
                  const auto value = direction_number(draft, input, part);
                  if (!value) return;
                  if (*value > UINT32_MAX)
                    input.error(fmt::format("{} is out of range (0 to {})", *value, UINT32_MAX));
                  else
                    draft.spec.rate_iops[direction] = *value;
                });
}

void rate_process(JobDraft& draft, const OptionInput& input) {
  static constexpr std::string_view kValues[] = {"linear", "poisson"};
  if (check_choice(input, input.text, kValues))
    draft.spec.rate_process =
        input.text == "poisson" ? RateProcess::kPoisson : RateProcess::kLinear;
}

}  // namespace cephmark::setters
