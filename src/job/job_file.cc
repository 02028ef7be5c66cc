#include "job/job_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "job/section_builder.h"

namespace cephmark {

namespace {

constexpr size_t kMaxSections = 4096;            ///< fio's own limit of jobs
constexpr size_t kMaxExpandedBytes = 64u << 20;  ///< of all jobs with their inherited options

/// What VM 0 of a fleet would put in: so that a template's mistakes show when the file is parsed.
const TemplateValues kSampleValues{"host-0", 0, "host", "rbd"};

/// The [global] options above a section, the last of each name.
class GlobalOptions {
 public:
  void add(const std::vector<RawOption>& options) {
    for (const RawOption& option : options) {
      const auto [place, is_new] = places_.emplace(option.name, options_.size());
      if (is_new) {
        options_.push_back(option);
      } else {
        // The later one counts, at its later place.
        options_[place->second].name.clear();
        place->second = options_.size();
        options_.push_back(option);
      }
    }
    std::erase_if(options_, [](const RawOption& option) { return option.name.empty(); });
    places_.clear();
    bytes_ = 0;
    for (size_t i = 0; i < options_.size(); ++i) {
      places_[options_[i].name] = i;
      bytes_ += sizeof(RawOption) + options_[i].name.size() + options_[i].value.size();
    }
  }
  const std::vector<RawOption>& all() const { return options_; }
  size_t bytes() const { return bytes_; }

 private:
  std::vector<RawOption> options_;
  std::unordered_map<std::string, size_t> places_;
  size_t bytes_ = 0;
};

void assign_order(std::vector<JobDraft>& drafts, const JobFile& file, Diagnostics& diagnostics) {
  int stage = 0, group = 0;
  for (size_t i = 0; i < drafts.size(); ++i) {
    JobDraft& draft = drafts[i];
    if (i > 0 && draft.stonewall) ++stage;
    if (i > 0 && (draft.stonewall || draft.new_group)) ++group;
    draft.spec.stage = stage;
    draft.spec.group = group;
    if (stage > 0 && draft.spec.startdelay_ns > 0)
      diagnostics.warn(
          file.sections[i].own.where,
          fmt::format(
              "startdelay of the job \"{}\" counts from the start of its own stage (stage {})",
              draft.spec.name, stage),
          "fio counts it from the start of the whole run, so that a stonewalled job does not wait");
  }
}

}  // namespace

bool JobFile::has_templates() const {
  return std::any_of(sections.begin(), sections.end(), [](const JobSection& section) {
    return has_template(section.own.name) ||
           std::any_of(section.options.begin(), section.options.end(),
                       [](const JobOption& option) { return has_template(option.raw.value); });
  });
}

JobFile parse_job_file(std::string_view text, const std::string& name,
                       std::span<const EngineDescription> engines, Diagnostics& diagnostics,
                       ParseOptions options) {
  auto sections = lex_job_file(text, name, options.access, diagnostics);
  return make_job_file(std::move(sections), name, engines, diagnostics, std::move(options));
}

JobFile make_job_file(std::vector<RawSection> sections, const std::string& name,
                      std::span<const EngineDescription> engines, Diagnostics& diagnostics,
                      ParseOptions options) {
  JobFile file;
  file.name = name;
  file.engines.assign(engines.begin(), engines.end());
  file.options = std::move(options);
  const SectionBuilder builder(file.engines, file.options, diagnostics);
  GlobalOptions globals;
  size_t expanded_bytes = 0;
  const RawSection* trailing_global = nullptr;
  for (RawSection& raw : sections) {
    if (raw.is_global) {
      builder.check_global(raw);
      globals.add(raw.options);
      trailing_global = &raw;
      continue;
    }
    trailing_global = nullptr;
    expanded_bytes += globals.bytes();
    if (file.sections.size() == kMaxSections || expanded_bytes > kMaxExpandedBytes) {
      diagnostics.error(raw.where,
                        file.sections.size() == kMaxSections
                            ? fmt::format("more than {} jobs", kMaxSections)
                            : std::string("the jobs with the options they inherit are too large"));
      return file;
    }
    JobSection section;
    section.own = std::move(raw);
    section.globals = globals.all();
    for (const auto* list : {&section.globals, &section.own.options})
      for (const RawOption& option : *list)
        section.rebuild_per_vm |=
            has_template(option.value) && (option.name == "ioengine" || option.name == "kb_base");
    file.sections.push_back(std::move(section));
  }
  if (trailing_global && !file.sections.empty())
    diagnostics.warn(trailing_global->where, "this section has no effect: no job stands below it",
                     "[global] gives defaults to the jobs below it only");
  if (file.sections.empty() && diagnostics.ok()) {
    SourcePosition where;
    auto source = std::make_shared<SourceFile>();
    source->name = name;
    where.file = source;
    diagnostics.error(where, "no job: nothing but comments or [global] sections",
                      "a job is a [NAME] and its options");
  }
  for (JobSection& section : file.sections)
    if (!section.rebuild_per_vm) builder.build(section);
  make_jobs(file, kSampleValues, diagnostics);  // all that can be wrong shows here
  return file;
}

std::vector<JobSpec> make_jobs(const JobFile& file, const TemplateValues& values,
                               Diagnostics& diagnostics) {
  const SectionBuilder builder(file.engines, file.options, diagnostics);
  std::vector<JobDraft> drafts;
  drafts.reserve(file.sections.size());
  for (const JobSection& section : file.sections) {
    if (!section.rebuild_per_vm) {
      drafts.push_back(builder.finish(section, values));
      continue;
    }
    JobSection filled;
    filled.own = section.own;
    filled.globals = section.globals;
    for (auto* list : {&filled.globals, &filled.own.options}) {
      for (RawOption& option : *list) {
        if (option.name != "ioengine" && option.name != "kb_base") continue;
        const TemplateResult result = substitute_template(option.value, values);
        if (!result.problem.empty())
          diagnostics.error(option.value_where, result.problem, result.hint);
        option.value = result.text;
      }
    }
    builder.build(filled);
    drafts.push_back(builder.finish(filled, values));
  }
  assign_order(drafts, file, diagnostics);
  std::vector<JobSpec> jobs;
  jobs.reserve(drafts.size());
  for (JobDraft& draft : drafts) jobs.push_back(std::move(draft.spec));
  return jobs;
}

}  // namespace cephmark
