// JobDraft: a JobSpec while its options are being applied: what depends on several options is kept
// as written until finish_job has them all. Lives inside the job language only, one thread.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "job/diagnostics.h"
#include "job/job_spec.h"
#include "job/numbers.h"
#include "job/option_table.h"

namespace cephmark {

struct BlockRange {
  uint64_t min_bytes = 0, max_bytes = 0;
};

struct JobDraft {
  JobSpec spec;
  unsigned kb_base = 1024;
  bool stonewall = false;
  bool new_group = false;
  PerDirection<std::optional<uint64_t>> bs;
  PerDirection<std::optional<BlockRange>> bsrange;
  PerDirection<std::vector<BlockSplit>> bssplit;
  std::optional<int> nrfiles;
};

/// One option being applied: where it stands and where its result goes. Messages begin with the
/// option's name.
struct OptionInput {
  std::string_view name;  ///< canonical
  std::string_view text;  ///< behind '='; empty for a bare flag
  bool has_value = false;
  const SourcePosition& name_where;
  const SourcePosition& value_where;
  Diagnostics& diagnostics;

  void error(const std::string& message, const std::string& hint = "") const;
  void warn(const std::string& message, const std::string& hint = "") const;
  /// Reads one number and tells of traps. Nothing (and an error said) when there is none, or it is
  /// below zero.
  std::optional<NumberReading> number(std::string_view part, NumberKind kind,
                                      unsigned kb_base) const;
};

/// A core option that cephmark honours: fio's name, how it is applied and what its effective value
/// is.
struct CoreOption {
  using Kind = OptionKind;
  std::string_view name;
  std::string_view alias;  ///< "" when there is none
  Kind kind = Kind::kText;
  std::string_view default_value;  ///< for people; "" : none
  void (*apply)(JobDraft& draft, const OptionInput& input) = nullptr;
  std::string (*show)(const JobSpec& spec) =
      nullptr;            ///< effective value; null: shown by another row
  std::string_view help;  ///< for docs/job-file.md
};

std::span<const CoreOption> core_options();
/// By name or alias; null when cephmark does not honour it.
const CoreOption* find_core_option(std::string_view name);

}  // namespace cephmark
