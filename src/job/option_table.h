// OptionTable: what an option is called, how its text is read and what it does. Rows, not code
// paths: core options stand in core_options.cc, an engine's own in its engine file. Plain data.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cephmark {

/// How an option's value is read.
enum class OptionKind : uint8_t { kText, kInteger, kSize, kTime, kBool, kFlag, kChoice, kList };

/// One engine option: validated by kind and range, stored as canonical text in
/// JobSpec::engine_options.
struct EngineOption {
  using Kind = OptionKind;  ///< but for kTime and kList
  std::string_view name;    ///< fio's name
  std::string_view alias;   ///< "" when there is none
  Kind kind = Kind::kText;
  std::string_view default_value;  ///< "" : none
  bool required = false;
  std::vector<std::string_view> choices;
  int64_t min = INT64_MIN;
  int64_t max = INT64_MAX;
  std::string_view help;  ///< one line, for docs/job-file and --enghelp
};

/// What the job language must know of an engine. engine_table provides one per engine we have.
struct EngineDescription {
  std::string_view name;
  std::string_view summary;
  std::span<const EngineOption> options;
  unsigned max_iodepth = 65536;
  bool synchronous = false;  ///< iodepth > 1 has no effect (psync)
};

}  // namespace cephmark
