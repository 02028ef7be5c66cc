// section_builder: one section's options, found in the tables and applied. Used by job_file only.
#pragma once

#include "job/job_file.h"

namespace cephmark {

class SectionBuilder {
 public:
  SectionBuilder(std::span<const EngineDescription> engines, const ParseOptions& options,
                 Diagnostics& diagnostics)
      : engines_(engines), options_(options), diagnostics_(diagnostics) {}

  /// Finds the section's options in the tables and applies those without a template.
  void build(JobSection& section) const;
  /// Applies the values of one VM to a copy of what build made, and checks the whole.
  JobDraft finish(const JobSection& section, const TemplateValues& values) const;
  /// Complains about options of a [global] that no job can use, whatever its engine.
  void check_global(const RawSection& section) const;

 private:
  const EngineDescription* find_engine(std::string_view name) const;
  std::string chosen_engine(const std::vector<RawOption>& options,
                            const std::string& otherwise) const;
  const EngineDescription* resolve_engine(const JobSection& section) const;
  bool resolve(const RawOption& raw, const JobSection& section,
               const EngineDescription* global_engine, bool from_global, JobOption& out) const;
  bool resolve_unusable(const RawOption& raw, const SourcePosition& where) const;
  void report_engine_option(const RawOption& raw, const JobSection& section,
                            bool from_global) const;
  void report_unknown(const RawOption& raw, const EngineDescription* engine) const;
  void apply(const JobOption& option, std::string_view text, JobDraft& draft) const;
  void apply_engine_option(const EngineOption& row, const OptionInput& input,
                           JobDraft& draft) const;
  void add_engine_defaults(const JobSection& section, JobDraft& draft) const;

  std::span<const EngineDescription> engines_;
  const ParseOptions& options_;
  Diagnostics& diagnostics_;
};

/// Fills what depends on several options and checks them against each other and the engine
/// (job_checks.cc).
void finish_job(JobDraft& draft, const JobSection& section, const ParseOptions& options,
                Diagnostics& diagnostics);

}  // namespace cephmark
