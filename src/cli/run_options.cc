#include "cli/run_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <random>

#include "base/error.h"
#include "base/units.h"
#include "cli/command_line.h"
#include "engine/engine_table.h"
#include "fleet/run_identity.h"
#include "job/job_file.h"
#include "output/output_set.h"

namespace cephmark {
namespace {

constexpr const char* kExamples = R"(
Examples:
  cephmark run write-4k.fio --vms 4 --create 20G --prefill --remove
        four VMs HOST-0 ... HOST-3, an image each, made for this run and removed after it
  cephmark run randread.fio --vms 100 --vm-name 'vm-{{.Index}}' --output json:out.json --output table
        images that are there already; the machine-readable result into a file, the table to stdout
  cephmark run --vms 'web:8:web.fio,db:2:db.fio' --max-cpus 4
  cephmark run write-4k.fio --vms 4 --plan
        say what would be done to which images, and stop there
)";

// What CLI11 collects as text and is read afterwards.
struct RawWords {
  std::string vms, create, object_size, runtime, open_timeout = "30s", grace = "10s", cache = "off",
                                                 guard;
  std::vector<std::string> sets;
  std::string features;
  uint64_t seed = 0;
  bool no_guard = false, no_keep = false, no_files = false;
};

void add_fleet_options(CLI::App& app, RunOptions& options, RawWords& words) {
  const char* group = "The fleet";
  app.add_option("JOBFILE", options.job_file,
                 "a fio job file or template ({{.Name}} in it); - is standard input")
      ->type_name("");
  app.add_option("--vms", words.vms, "how many VMs: N, or NAME:N:JOBFILE,...")
      ->type_name("N")
      ->group(group);
  app.add_option("--vm-name", options.vm_name, "how VMs are called (default {{.Host}}-{{.Index}})")
      ->type_name("PATTERN")
      ->group(group);
  app.add_option("--host", options.host, "{{.Host}} (default: the name of this machine)")
      ->type_name("NAME")
      ->group(group);
  app.add_option("--pool", options.pool, "{{.Pool}}")->type_name("POOL")->group(group);
  app.add_flag("--shared-image", options.grants.shared_image, "several VMs may use one image")
      ->group(group);
  app.add_option("--create", words.create, "make the images, of this size (20G)")
      ->type_name("SIZE")
      ->group(group);
  app.add_flag("--prefill", options.prefill,
               "write incompressible data over all that was never written")
      ->group(group);
  app.add_flag("--remove", options.remove, "remove the images that this run made, whatever happens")
      ->group(group);
  app.add_option("--clone-from", options.clone_from, "with --create: clone POOL/IMAGE@SNAP")
      ->type_name("SPEC")
      ->group(group);
  app.add_option("--data-pool", options.data_pool, "with --create: where the data goes (EC pools)")
      ->type_name("POOL")
      ->group(group);
  app.add_option("--features", words.features,
                 "with --create: rbd's feature names, separated by commas")
      ->type_name("NAMES")
      ->group(group);
  app.add_option("--object-size", words.object_size, "with --create (4M)")
      ->type_name("SIZE")
      ->group(group);
}

void add_load_options(CLI::App& app, RunOptions& options, RawWords& words) {
  const char* group = "The load";
  app.add_option("--runtime", words.runtime, "instead of the job's own (20s)")
      ->type_name("TIME")
      ->group(group);
  app.add_option("--set", words.sets,
                 "OPTION=VALUE of the job language, instead of the job's own; repeatable")
      ->allow_extra_args(false)
      ->type_name("OPTION=VALUE")
      ->group(group);
  app.add_option("--max-cpus", options.limits.max_cpus,
                 "CPUs that the run and its children may use")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->group(group);
  app.add_option("--connections", options.limits.connections,
                 "librados contexts that the VMs share (default: one per VM, at most 16)")
      ->check(CLI::PositiveNumber)
      ->type_name("N")
      ->group(group);
  app.add_option("--rbd-cache", words.cache,
                 "librbd's cache: off (default), writearound, writeback, as-fio, conf")
      ->type_name("POLICY")
      ->group(group);
  app.add_option("--seed", words.seed, "of all that is random, instead of randrepeat and randseed")
      ->type_name("N")
      ->group(group);
  app.add_option("--runner", options.runner, "native, or fio: a real fio per VM")
      ->check(CLI::IsMember({"native", "fio"}))
      ->type_name("RUNNER")
      ->group(group);
  app.add_option("--fio", options.fio_path, "with --runner fio: which fio")
      ->type_name("PATH")
      ->group(group);
  app.add_option("--open-timeout", words.open_timeout, "for connecting and opening (default 30s)")
      ->type_name("TIME")
      ->group(group);
  app.add_option("--grace", words.grace,
                 "for I/O in flight at the end or after Ctrl-C (default 10s)")
      ->type_name("TIME")
      ->group(group);
  app.add_flag("--allow-unsupported", options.allow_unsupported,
               "go on without the job options that cephmark does not honour yet")
      ->group(group);
}

void add_safety_options(CLI::App& app, RunOptions& options, RawWords& words) {
  const char* group = "Safety";
  app.add_flag("--plan", options.plan_only, "say what would be done, change nothing")->group(group);
  app.add_option("--allow-write", options.grants.allow_write,
                 "this target, or those that the pattern names, may be overwritten; repeatable")
      ->allow_extra_args(false)
      ->type_name("TARGET")
      ->group(group);
  app.add_flag("--open-read-only", options.grants.open_read_only,
               "read jobs open images read-only (then they do not hear of QoS changes)")
      ->group(group);
  app.add_option("--guard", words.guard,
                 "what stops the load: slow-ops,inactive-pgs,nearfull (default: all)")
      ->type_name("LIST")
      ->group(group);
  app.add_flag("--no-guard", words.no_guard, "nothing does")->group(group);
}

void add_output_options(CLI::App& app, RunOptions& options, RawWords& words) {
  const char* group = "What comes out";
  app.add_option("--output", options.outputs, output_option_help())
      ->allow_extra_args(false)
      ->type_name("FORMAT[:FILE]")
      ->group(group);
  app.add_flag("--quiet", options.quiet, "no progress on stderr")->group(group);
  app.add_option("--results-dir", options.results_directory,
                 "where a fleet's job and result files per VM go (default: results)")
      ->type_name("DIR")
      ->group(group);
  app.add_flag("--no-files", words.no_files, "no files per VM")->group(group);
  app.add_flag("--keep-files", options.keep_files,
               "data files that the run lays out under generated names stay (as with fio)")
      ->group(group);
  app.add_flag("--no-keep", words.no_keep, "do not keep the result for `cephmark results`")
      ->group(group);
}

RbdCache cache_of(const std::string& word) {
  static const std::map<std::string, RbdCache> kWords = {{"off", RbdCache::kOff},
                                                         {"writearound", RbdCache::kWriteAround},
                                                         {"writeback", RbdCache::kWriteBack},
                                                         {"as-fio", RbdCache::kAsFio},
                                                         {"conf", RbdCache::kConf}};
  const auto found = kWords.find(word);
  if (found == kWords.end())
    throw UsageError(fmt::format("--rbd-cache: there is no policy '{}'", word),
                     "off, writearound, writeback, as-fio (direct=0 means cache) or conf");
  return found->second;
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t from = 0; from <= text.size() && !text.empty();) {
    const size_t comma = std::min(text.find(',', from), text.size());
    if (comma > from) parts.push_back(text.substr(from, comma - from));
    from = comma + 1;
  }
  return parts;
}

GuardPolicy guard_of(const RawWords& words) {
  if (words.no_guard) return {false, false, false};
  if (words.guard.empty()) return {};
  GuardPolicy policy{false, false, false};
  for (const std::string& word : split_at_commas(words.guard)) {
    if (word == "slow-ops")
      policy.slow_ops = true;
    else if (word == "inactive-pgs")
      policy.inactive_pgs = true;
    else if (word == "nearfull")
      policy.nearfull = true;
    else
      throw UsageError(fmt::format("--guard: there is no condition '{}'", word),
                       "slow-ops, inactive-pgs, nearfull");
  }
  return policy;
}

void read_words(const RawWords& words, RunOptions& options) {
  if (!words.create.empty()) options.create_bytes = parse_size(words.create, "--create");
  if (!words.object_size.empty())
    options.object_size_bytes = parse_size(words.object_size, "--object-size");
  options.features = split_at_commas(words.features);
  options.limits.open_timeout_ns = parse_duration_ns(words.open_timeout, "--open-timeout");
  options.limits.drain_grace_ns = parse_duration_ns(words.grace, "--grace");
  options.rbd_cache = cache_of(words.cache);
  options.guard = guard_of(words);
  options.keep = !words.no_keep;
  options.fleet = !words.vms.empty();
  options.groups = parse_vm_groups(words.vms.empty() ? "1" : words.vms);
  if (options.host.empty()) options.host = local_host_name();
  if (options.fleet && options.results_directory.empty()) options.results_directory = "results";
  if (words.no_files) options.results_directory.clear();
  if (!words.runtime.empty()) {
    const int64_t runtime_ns = parse_duration_ns(words.runtime, "--runtime");
    if (runtime_ns <= 0) throw UsageError("--runtime: must be longer than nothing");
    options.overrides.emplace_back("runtime", fmt::format("{}us", runtime_ns / 1000));
  }
  for (const std::string& set : words.sets) {
    const size_t equals = set.find('=');
    if (equals == 0)
      throw UsageError(fmt::format("--set: '{}' names no option", set), "--set iodepth=16");
    options.overrides.emplace_back(set.substr(0, equals),
                                   equals == std::string::npos ? "" : set.substr(equals + 1));
  }
}

// A report replaces an older one of its name, but never the job that it is about.
void check_outputs_spare_jobs(const RunOptions& options) {
  for (const std::string& spec : options.outputs) {
    const size_t colon = spec.find(':');
    if (colon == std::string::npos) continue;
    const std::string file = spec.substr(colon + 1);
    std::vector<std::string> jobs = {options.job_file};
    for (const VmGroup& group : options.groups) jobs.push_back(group.job_file);
    for (const std::string& job : jobs) {
      std::error_code ignored;
      if (!job.empty() && std::filesystem::equivalent(job, file, ignored))
        throw UsageError(fmt::format("--output {}: that is the job file", spec),
                         "name another file for the report");
    }
  }
}

void check_together(const RunOptions& options) {
  check_outputs_spare_jobs(options);
  const bool all_have_files =
      std::all_of(options.groups.begin(), options.groups.end(),
                  [](const VmGroup& group) { return !group.job_file.empty(); });
  if (options.job_file.empty() && !all_have_files)
    throw UsageError("no job file was given",
                     "cephmark run JOBFILE --vms 4; `cephmark run --help` shows examples");
  if (options.create_bytes == 0 && options.clone_from.empty()) {
    if (!options.data_pool.empty() || !options.features.empty() || options.object_size_bytes)
      throw UsageError("--data-pool, --features and --object-size go with --create",
                       "--create 20G");
    if (options.remove)
      throw UsageError("--remove goes with --create: only what the run made is removed",
                       "`cephmark volumes remove` removes images that cephmark made earlier");
  }
  if (options.runner == "native" && !options.fio_path.empty())
    throw UsageError("--fio goes with --runner fio");
}

std::string text_of_job_file(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  try {
    return read_file(path);
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
  file.text = text_of_job_file(path);
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

std::string title_of(const RunOptions& options) {
  const std::string& path =
      options.job_file.empty() ? options.groups.front().job_file : options.job_file;
  if (path == "-") return "stdin";
  return path.substr(path.find_last_of('/') + 1);
}

}  // namespace

std::optional<RunOptions> parse_run_options(const std::vector<std::string>& argv) {
  RunOptions options;
  RawWords words;
  CLI::App app{
      "Runs fio jobs natively: every VM of a fleet gets its own image (or file), driven from this "
      "process.",
      "cephmark run"};
  app.footer(kExamples);
  add_fleet_options(app, options, words);
  add_load_options(app, options, words);
  add_safety_options(app, options, words);
  add_output_options(app, options, words);
  add_ceph_options(app, options.ceph);
  if (!parse_command_line(app, argv)) return std::nullopt;
  read_words(words, options);
  if (app.count("--seed")) {
    options.seed = words.seed;
    // Wins over randrepeat and over a randseed of the job file, for a real fio too.
    options.overrides.emplace_back("randseed", std::to_string(words.seed));
  }
  check_together(options);
  return options;
}

Plan make_run_plan(const RunOptions& options, const std::vector<std::string>& argv,
                   Diagnostics& diagnostics) {
  const std::vector<EngineDescription> engines = engine_descriptions();
  std::map<std::string, LoadedJobFile> files;
  FleetSpec spec{options.groups, options.vm_name, options.host, options.pool,
                 options.grants.shared_image};
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
  plan.title = title_of(options);
  plan.command = "run";
  plan.arguments = argv;
  plan.seed = options.seed ? *options.seed
                           : (uint64_t{std::random_device{}()} << 32 | std::random_device{}());
  plan.ceph = resolve_ceph_target(options.ceph);
  plan.rbd_cache = options.rbd_cache;
  plan.limits = options.limits;
  plan.grants = options.grants;
  plan.guard = options.guard;
  plan.warnings = diagnostics.warning_lines();
  return plan;
}

}  // namespace cephmark
