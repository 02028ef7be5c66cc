#include "cli/run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/units.h"
#include "cli/command_line.h"
#include "fleet/run_identity.h"

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
  std::string vms, create, object_size, runtime, features;
  std::vector<std::string> sets;
  bool no_files = false;
};

void add_fleet_options(CLI::App& app, RunOptions& options, RawWords& words) {
  const char* group = "The fleet";
  ImageOrder& images = options.common.session.images;
  app.add_option("JOBFILE", options.job_file,
                 "a fio job file or template ({{.Name}} in it); - is standard input")
      ->type_name("");
  app.add_option("--vms", words.vms, "how many VMs: N, or NAME:N:JOBFILE,...")
      ->type_name("N")
      ->group(group);
  app.add_option("--vm-name", options.vm_name, "how VMs are called (default {{.Host}}-{{.Index}})")
      ->type_name("PATTERN")
      ->group(group);
  app.add_option("--host", options.common.session.host,
                 "{{.Host}} (default: the name of this machine)")
      ->type_name("NAME")
      ->group(group);
  app.add_option("--pool", options.pool, "{{.Pool}}")->type_name("POOL")->group(group);
  app.add_flag("--shared-image", options.common.grants.shared_image,
               "several VMs may use one image")
      ->group(group);
  app.add_option("--create", words.create, "make the images, of this size (20G)")
      ->type_name("SIZE")
      ->group(group);
  app.add_flag("--prefill", images.prefill,
               "write incompressible data over all that was never written")
      ->group(group);
  app.add_flag("--remove", images.remove, "remove the images that this run made, whatever happens")
      ->group(group);
  app.add_option("--clone-from", images.clone_from, "with --create: clone POOL/IMAGE@SNAP")
      ->type_name("SPEC")
      ->group(group);
  app.add_option("--data-pool", images.data_pool, "with --create: where the data goes (EC pools)")
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
  app.add_option("--runner", options.common.session.runner, "native, or fio: a real fio per VM")
      ->check(CLI::IsMember({"native", "fio"}))
      ->type_name("RUNNER")
      ->group(group);
  app.add_option("--fio", options.common.session.fio_path, "with --runner fio: which fio")
      ->type_name("PATH")
      ->group(group);
  app.add_flag("--allow-unsupported", options.allow_unsupported,
               "go on without the job options that cephmark does not honour yet")
      ->group(group);
}

void add_file_options(CLI::App& app, RunOptions& options, RawWords& words) {
  const char* group = "Files per VM";
  app.add_option("--results-dir", options.common.session.results_directory,
                 "where a fleet's job and result files per VM go (default: results)")
      ->type_name("DIR")
      ->group(group);
  app.add_flag("--no-files", words.no_files, "no files per VM")->group(group);
}

void read_words(const RawWords& words, RunOptions& options) {
  SessionOptions& session = options.common.session;
  if (!words.create.empty()) session.images.create_bytes = parse_size(words.create, "--create");
  if (!words.object_size.empty())
    session.images.object_size_bytes = parse_size(words.object_size, "--object-size");
  session.images.features = split_at_commas(words.features);
  const bool fleet = !words.vms.empty();
  options.groups = parse_vm_groups(fleet ? words.vms : "1");
  if (session.host.empty()) session.host = local_host_name();
  if (fleet && session.results_directory.empty()) session.results_directory = "results";
  if (words.no_files) session.results_directory.clear();
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
  // Wins over randrepeat and over a randseed of the job file, for a real fio too.
  if (options.common.seed)
    options.overrides.emplace_back("randseed", std::to_string(*options.common.seed));
}

// A report replaces an older one of its name, but never the job that it is about.
void check_outputs_spare_jobs(const RunOptions& options) {
  for (const std::string& spec : options.common.outputs) {
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
  const SessionOptions& session = options.common.session;
  const ImageOrder& images = session.images;
  if (!images.makes_images()) {
    if (!images.data_pool.empty() || !images.features.empty() || images.object_size_bytes)
      throw UsageError("--data-pool, --features and --object-size go with --create",
                       "--create 20G");
    if (images.remove)
      throw UsageError("--remove goes with --create: only what the run made is removed",
                       "`cephmark volumes remove` removes images that cephmark made earlier");
  }
  if (session.runner == "native" && !session.fio_path.empty())
    throw UsageError("--fio goes with --runner fio");
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
  add_file_options(app, options, words);
  options.common.add_to(app);
  if (!parse_command_line(app, argv)) return std::nullopt;
  options.common.settle();
  read_words(words, options);
  check_together(options);
  return options;
}

}  // namespace cephmark
