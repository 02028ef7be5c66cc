// job_file: fio's job-file language -> JobSpecs. Parsed and checked once; made into the jobs of
// each VM cheaply. A JobFile is plain data, never changed after it was parsed; any thread may make
// jobs of it, each with its own Diagnostics. The language: docs/job-file.md.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "job/diagnostics.h"
#include "job/job_draft.h"
#include "job/job_spec.h"
#include "job/lexer.h"
#include "job/option_table.h"
#include "job/template.h"

namespace cephmark {

struct ParseOptions {
  /// Options that fio knows and cephmark does not honour are warnings instead of errors
  /// (--allow-unsupported).
  bool allow_unsupported = false;
  SourceAccess access = SourceAccess::real();
  /// Whether a path exists, for colons in filename=. Null: not looked at.
  std::function<bool(const std::string& path)> path_exists;
};

/// An option of a job, found in the tables.
struct JobOption {
  const CoreOption* core = nullptr;  ///< or
  const EngineOption* engine_option = nullptr;
  std::string name;  ///< canonical
  RawOption raw;
  bool from_global = false;
};

/// One job section with the defaults of the [global]s above it.
struct JobSection {
  RawSection own;
  std::vector<RawOption> globals;  ///< as written, last of each name
  // What was made of them, except for values with a template in them:
  JobDraft draft;
  std::vector<JobOption> options;  ///< effective ones, in order of application
  std::vector<std::pair<std::string, std::string>> written_options, written_globals;
  const EngineDescription* engine = nullptr;  ///< null: unknown, an error was said
  bool rebuild_per_vm = false;  ///< a template stands in an option that others depend on
};

struct JobFile {
  std::string name;
  std::vector<JobSection> sections;
  std::vector<EngineDescription> engines;  ///< what JobSection::engine points into
  ParseOptions options;

  JobFile() = default;
  JobFile(JobFile&&) = default;
  JobFile& operator=(JobFile&&) = default;
  JobFile(const JobFile&) = delete;  // sections point into engines
  JobFile& operator=(const JobFile&) = delete;

  /// Whether any value differs from VM to VM.
  bool has_templates() const;
};

/// Parses and checks a whole job file; all mistakes and warnings go to `diagnostics` (look at ok()
/// before use). `name`: its path as messages show it. `engines`: engine_descriptions().
JobFile parse_job_file(std::string_view text, const std::string& name,
                       std::span<const EngineDescription> engines, Diagnostics& diagnostics,
                       ParseOptions options = {});

/// The same for sections that come from elsewhere (a command line). They may hold [global]s at any
/// place.
JobFile make_job_file(std::vector<RawSection> sections, const std::string& name,
                      std::span<const EngineDescription> engines, Diagnostics& diagnostics,
                      ParseOptions options = {});

/// The jobs of one VM, in order, with stage and group numbers. Mistakes that only this VM's values
/// show go to `diagnostics`. Meant to be called a thousand times.
std::vector<JobSpec> make_jobs(const JobFile& file, const TemplateValues& values,
                               Diagnostics& diagnostics);

}  // namespace cephmark
