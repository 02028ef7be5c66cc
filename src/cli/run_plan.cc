#include "cli/run_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>

#include "base/error.h"
#include "base/fd.h"
#include "engine/engine_table.h"
#include "job/job_file.h"

namespace cephmark {
namespace {

std::string text_of_first_argument(const std::string& path) {
  try {
    return text_of_job_file(path);
  } catch (const Error& error) {
    throw UsageError(error.what(),
                     "the job file is the first argument: cephmark run JOBFILE --vms 4");
  }
}

void add_overrides(std::vector<RawSection>& sections, const RunOptions& options) {
  if (options.overrides.empty()) return;
  auto source = std::make_shared<SourceFile>();
  source->name = "command line";
  for (const auto& [name, value] : options.overrides) source->lines.push_back(name + "=" + value);
  for (RawSection& section : sections) {
    if (section.is_global) continue;
    int line = 0;
    for (const auto& [name, value] : options.overrides) {
      RawOption option;
      option.name = name;
      option.value = value;
      option.has_value = !value.empty();
      option.where = {source, ++line, 1, static_cast<int>(name.size())};
      option.value_where = {source, line, static_cast<int>(name.size()) + 2,
                            static_cast<int>(value.size())};
      section.options.push_back(std::move(option));
    }
  }
}

// A job file of the command line: as it stands there, and parsed.
struct LoadedJobFile {
  std::string text;
  JobFile parsed;
};

LoadedJobFile load_job_file(const std::string& path, const RunOptions& options,
                            const std::vector<EngineDescription>& engines,
                            Diagnostics& diagnostics) {
  ParseOptions parse;
  parse.allow_unsupported = options.allow_unsupported;
  parse.path_exists = [](const std::string& name) { return ::access(name.c_str(), F_OK) == 0; };
  const std::string name = path == "-" ? "standard input" : path;
  LoadedJobFile file;
  file.text = text_of_first_argument(path);
  auto sections = lex_job_file(file.text, name, parse.access, diagnostics);
  add_overrides(sections, options);
  file.parsed = make_job_file(std::move(sections), name, engines, diagnostics, parse);
  return file;
}

// What each VM runs, as the user wrote it: kept beside its result, and given to a real fio. With
// options of our own command line in force the jobs are written back from what is effective.
void add_job_texts(Plan& plan, const FleetSpec& spec,
                   const std::map<std::string, LoadedJobFile>& files) {
  size_t index = 0;
  for (const VmGroup& group : spec.groups)
    for (int i = 0; i < group.count; ++i) {
      VmPlan& vm = plan.vms[index++];
      const TemplateResult text = substitute_template(files.at(group.job_file).text,
                                                      {vm.name, vm.index, vm.host, spec.pool});
      if (text.problem.empty()) vm.job_text = text.text;
    }
}

// The base names of the job files: "write-4k.fio", "web.fio+db.fio".
std::string title_of(const FleetSpec& spec) {
  std::vector<std::string> names;
  for (const VmGroup& group : spec.groups) {
    const std::string& path = group.job_file;
    const std::string name = path == "-" ? "stdin" : path.substr(path.find_last_of('/') + 1);
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  constexpr size_t kShown = 4;  // it becomes part of file names
  if (names.size() > kShown) {
    names[kShown] = fmt::format("{} more", names.size() - kShown);
    names.resize(kShown + 1);
  }
  return fmt::format("{}", fmt::join(names, "+"));
}

}  // namespace

std::string text_of_job_file(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  return read_file(path);
}

Plan make_run_plan(const RunOptions& options, const std::vector<std::string>& argv,
                   Diagnostics& diagnostics) {
  const std::vector<EngineDescription> engines = engine_descriptions();
  std::map<std::string, LoadedJobFile> files;
  FleetSpec spec{options.groups, options.vm_name, options.common.session.host, options.pool,
                 options.common.grants.shared_image};
  for (VmGroup& group : spec.groups) {
    if (group.job_file.empty()) group.job_file = options.job_file;
    if (!files.count(group.job_file))
      files.emplace(group.job_file, load_job_file(group.job_file, options, engines, diagnostics));
  }
  diagnostics.throw_if_errors();

  Plan plan;
  plan.vms = make_fleet(
      spec, [&](const VmGroup& group) -> const JobFile& { return files.at(group.job_file).parsed; },
      diagnostics);
  diagnostics.throw_if_errors();
  if (options.overrides.empty()) add_job_texts(plan, spec, files);
  plan.title = title_of(spec);
  plan.command = "run";
  plan.arguments = argv;
  options.common.apply(plan);
  plan.warnings = diagnostics.warning_lines();
  return plan;
}

}  // namespace cephmark
