#include "job/effective_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "job/job_draft.h"

namespace cephmark {

namespace {

/// "a" when all three are alike, else "a,b,c".
template <typename Text>
std::string directions_text(Text text) {
  const std::string read = text(0), write = text(1), trim = text(2);
  return read == write && write == trim ? read : fmt::format("{},{},{}", read, write, trim);
}

std::string one_distribution(const Distribution& distribution) {
  std::string out;
  switch (distribution.kind) {
    case Distribution::Kind::kUniform:
      return "random";
    case Distribution::Kind::kZipf:
      out = fmt::format("zipf:{}", distribution.parameter);
      break;
    case Distribution::Kind::kPareto:
      out = fmt::format("pareto:{}", distribution.parameter);
      break;
    case Distribution::Kind::kNormal:
      out = fmt::format("normal:{}", distribution.parameter);
      break;
    case Distribution::Kind::kZoned:
    case Distribution::Kind::kZonedAbsolute:
      for (const auto& zone : distribution.zones) {
        if (!out.empty()) out += ':';
        out += distribution.kind == Distribution::Kind::kZoned
                   ? fmt::format("{}/{}", zone.access_percent, zone.size_percent)
                   : fmt::format("{}/{}", zone.access_percent, zone.size_bytes);
      }
      return out;
  }
  if (distribution.center >= 0) out += fmt::format(":{}", distribution.center);
  return out;
}

bool has_range(const JobSpec& spec) {
  return std::any_of(spec.block_sizes.begin(), spec.block_sizes.end(),
                     [](const BlockSizes& sizes) { return sizes.min_bytes != sizes.max_bytes; });
}

}  // namespace

std::string size_text(const SizeSpec& size) {
  switch (size.kind) {
    case SizeSpec::Kind::kUnset:
      return "";
    case SizeSpec::Kind::kBytes:
      return fmt::format("{}", size.value);
    case SizeSpec::Kind::kPercent:
      return fmt::format("{}%", size.value);
  }
  return "";
}

std::string time_text(int64_t ns) {
  return ns % 1'000'000'000 == 0 ? fmt::format("{}s", ns / 1'000'000'000)
                                 : fmt::format("{}us", ns / 1000);
}

std::string startdelay_text(const JobSpec& spec) {
  constexpr int64_t kSecond_ns = 1'000'000'000;
  const int64_t from_ns = spec.startdelay_ns, to_ns = spec.startdelay_max_ns;
  if (to_ns <= from_ns) return time_text(from_ns);
  if (from_ns % kSecond_ns == 0 && to_ns % kSecond_ns == 0)
    return fmt::format("{}-{}", from_ns / kSecond_ns, to_ns / kSecond_ns);
  return fmt::format("{}us-{}us", from_ns / 1000, to_ns / 1000);
}

std::string directories_text(const JobSpec& spec) {
  if (spec.directory.empty()) return "";
  std::vector<std::string> all = {spec.directory};
  all.insert(all.end(), spec.more_directories.begin(), spec.more_directories.end());
  return filenames_text(all);
}

std::string rw_text(const RwMode& rw) {
  return rw.postfix == 0 ? rw.name : fmt::format("{}:{}", rw.name, rw.postfix);
}

std::string bs_text(const JobSpec& spec) {
  if (has_range(spec)) return "";
  return directions_text(
      [&](int direction) { return std::to_string(spec.block_sizes[direction].min_bytes); });
}

std::string bsrange_text(const JobSpec& spec) {
  if (!has_range(spec) || !spec.block_sizes[0].splits.empty()) return "";
  return directions_text([&](int direction) {
    const BlockSizes& sizes = spec.block_sizes[direction];
    return fmt::format("{}-{}", sizes.min_bytes, sizes.max_bytes);
  });
}

std::string block_splits_text(const JobSpec& spec) {
  return directions_text([&](int direction) {
    std::string out;
    for (const BlockSplit& split : spec.block_sizes[direction].splits)
      out += fmt::format("{}{}/{}", out.empty() ? "" : ":", split.bytes, split.percent);
    return out;
  });
}

std::string distribution_text(const JobSpec& spec) {
  const Distribution::Kind kind = spec.random_distribution[0].kind;
  std::string text = directions_text(
      [&](int direction) { return one_distribution(spec.random_distribution[direction]); });
  if (kind == Distribution::Kind::kZoned) return "zoned:" + text;
  if (kind == Distribution::Kind::kZonedAbsolute) return "zoned_abs:" + text;
  return text;
}

std::string filenames_text(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) {
    if (!out.empty()) out += ':';
    for (const char c : name) out += c == ':' ? std::string("\\:") : std::string(1, c);
  }
  return out;
}

std::string per_direction_text(const PerDirection<uint64_t>& values) {
  return directions_text([&](int direction) { return fmt::format("{}", values[direction]); });
}

std::vector<std::pair<std::string, std::string>> effective_options(const JobSpec& spec) {
  std::vector<std::pair<std::string, std::string>> options;
  for (const CoreOption& option : core_options()) {
    if (!option.show) continue;
    std::string value = option.show(spec);
    if (!value.empty()) options.emplace_back(option.name, std::move(value));
  }
  options.emplace_back("stage", std::to_string(spec.stage));
  options.emplace_back("group", std::to_string(spec.group));
  for (const auto& [name, value] : spec.engine_options) options.emplace_back(name, value);
  return options;
}

}  // namespace cephmark
