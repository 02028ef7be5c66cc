#include "compat/fio_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cephmark {
namespace {

/// Some sections that are parsed together.
struct Source {
  std::string name;
  std::vector<RawSection> sections;
  bool is_further_file = false;  ///< not the first job file
};

RawSection section_of_globals(const std::vector<RawOption>& globals) {
  RawSection section;
  section.name = "global";
  section.is_global = true;
  section.where = globals.front().where;
  section.options = globals;
  return section;
}

std::vector<Source> sources_of(const FioArguments& arguments,
                               const std::function<std::string(const std::string&)>& read,
                               const ParseOptions& options, Diagnostics& diagnostics) {
  std::vector<Source> sources;
  if (!arguments.sections.empty()) {
    Source own{"command line", arguments.sections, false};
    if (!arguments.globals.empty())
      own.sections.insert(own.sections.begin(), section_of_globals(arguments.globals));
    sources.push_back(std::move(own));
  }
  bool first = true;
  for (const std::string& path : arguments.job_files) {
    const std::string name = path == "-" ? "standard input" : path;
    Source file{name, lex_job_file(read(path), name, options.access, diagnostics), !first};
    if (first && !arguments.globals.empty())
      file.sections.insert(file.sections.begin(), section_of_globals(arguments.globals));
    sources.push_back(std::move(file));
    first = false;
  }
  return sources;
}

/// --section: only these jobs of the job files; [global]s stay.
void keep_only(const std::vector<std::string>& wanted, Source& source) {
  std::erase_if(source.sections, [&](const RawSection& section) {
    return !section.is_global &&
           std::find(wanted.begin(), wanted.end(), section.name) == wanted.end();
  });
}

bool has_job(const Source& source) {
  return std::any_of(source.sections.begin(), source.sections.end(),
                     [](const RawSection& section) { return !section.is_global; });
}

bool begins_with_stonewall(const JobFile& file) {
  const auto& options = file.sections.front().options;
  return std::any_of(options.begin(), options.end(), [](const JobOption& option) {
    return option.name == "stonewall" && (!option.raw.has_value || option.raw.value != "0");
  });
}

/// Puts the jobs of one more source behind those that are there.
void append(std::vector<JobSpec>& jobs, std::vector<JobSpec> more, bool stonewalled) {
  int stage = 0, group = 0;
  for (const JobSpec& job : jobs) {
    stage = std::max(stage, job.stage);
    group = std::max(group, job.group);
  }
  if (stonewalled && !jobs.empty()) ++stage, ++group;
  for (JobSpec& job : more) {
    job.stage += stage;
    job.group += group;
    jobs.push_back(std::move(job));
  }
}

SourcePosition place_of(const std::string& name) {
  auto source = std::make_shared<SourceFile>();
  source->name = name;
  return {std::move(source), 0, 0, 1};
}

void check_read_only(const FioArguments& arguments, const std::vector<JobSpec>& jobs,
                     Diagnostics& diagnostics) {
  if (!arguments.read_only) return;
  for (const JobSpec& job : jobs)
    if (job.rw.writes || job.rw.trims)
      diagnostics.error(
          place_of(job.source.empty() ? "command line" : job.source),
          fmt::format("the job \"{}\" writes or trims, and --readonly was given", job.name),
          "rw=read or rw=randread, or without --readonly");
}

std::string title_of(const FioArguments& arguments, const std::vector<JobSpec>& jobs) {
  for (const std::string& path : arguments.job_files)
    if (path != "-") return path.substr(path.find_last_of('/') + 1);
  return jobs.empty() ? "fio" : jobs.front().name;
}

}  // namespace

Plan make_fio_plan(const FioArguments& arguments, const std::vector<std::string>& argv,
                   std::span<const EngineDescription> engines,
                   const std::function<std::string(const std::string& path)>& read,
                   const ParseOptions& options, Diagnostics& diagnostics) {
  VmPlan vm;
  const TemplateValues no_values;
  bool any = false;
  for (Source& source : sources_of(arguments, read, options, diagnostics)) {
    if (!arguments.only_sections.empty()) keep_only(arguments.only_sections, source);
    // A file of nothing at all is a mistake; one whose jobs were not asked for is none.
    if (!has_job(source) && !arguments.only_sections.empty()) continue;
    any = true;
    const JobFile file =
        make_job_file(std::move(source.sections), source.name, engines, diagnostics, options);
    if (file.sections.empty()) continue;
    append(vm.jobs, make_jobs(file, no_values, diagnostics),
           source.is_further_file || begins_with_stonewall(file));
  }
  if (!any)
    diagnostics.error(place_of("command line"), "there is no job to run",
                      arguments.only_sections.empty()
                          ? "name a job file, or give --name=JOB and its options"
                          : "--section names none of the jobs");
  check_read_only(arguments, vm.jobs, diagnostics);
  Plan plan;
  plan.title = title_of(arguments, vm.jobs);
  plan.command = "fio";
  plan.arguments = argv;
  plan.vms.push_back(std::move(vm));
  plan.rbd_cache = RbdCache::kAsFio;
  plan.clones_apart = true;
  plan.grants.allow_write = arguments.allow_write;
  plan.guard = {false, false, false};
  plan.warnings = diagnostics.warning_lines();
  return plan;
}

}  // namespace cephmark
