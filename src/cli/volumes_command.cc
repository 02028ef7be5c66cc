// cephmark volumes: the images of simulated VMs, made by hand for a series of runs.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>

#include "base/error.h"
#include "base/units.h"
#include "cli/ceph_options.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/signals.h"
#include "fleet/fleet_plan.h"
#include "fleet/volumes.h"
#include "output/cells.h"
#include "output/progress.h"

namespace cephmark {
namespace {

struct Arguments {
  CephOptions ceph;
  std::vector<std::string> names, features, allow_write;
  int vms = 0;
  std::string vm_name = "{{.Host}}-{{.Index}}";
  std::string pool = "rbd", rados_namespace, size, clone_from, data_pool, object_size;
  int parallel = 16;
  bool prefill = false, quiet = false, all = false;
};

void add_names(CLI::App& command, Arguments& arguments) {
  command.add_option("NAME", arguments.names, "images: NAME or POOL/[NAMESPACE/]NAME");
  command.add_option("--vms", arguments.vms, "the images of N VMs instead")
      ->check(whole_number(1, kMaxVms))
      ->type_name("N");
  command
      .add_option("--vm-name", arguments.vm_name,
                  "how they are called (default {{.Host}}-{{.Index}})")
      ->type_name("PATTERN");
}

void add_common(CLI::App& command, Arguments& arguments) {
  command.add_option("--pool", arguments.pool, "pool (default rbd)");
  command.add_option("--namespace", arguments.rados_namespace, "namespace in the pool");
  command.add_option("--parallel", arguments.parallel, "how many at once (default 16)")
      ->check(whole_number(1, 256))
      ->type_name("N");
  command.add_flag("--quiet", arguments.quiet, "no progress");
  add_ceph_options(command, arguments.ceph);
}

void add_create(CLI::App& command, Arguments& arguments) {
  command.add_option("--size", arguments.size, "size of each, with a unit: 20G")->type_name("SIZE");
  command.add_option("--clone-from", arguments.clone_from, "make clones of POOL/IMAGE@SNAPSHOT");
  command.add_option("--data-pool", arguments.data_pool, "pool for the data (erasure coded pools)");
  command.add_option("--features", arguments.features, "image features, with commas")
      ->delimiter(',');
  command
      .add_option("--object-size", arguments.object_size, "size of objects, 4K to 32M (default 4M)")
      ->type_name("SIZE");
  command.add_flag("--prefill", arguments.prefill, "and write them in full");
}

std::vector<ImageSpec> images_of(const Arguments& arguments) {
  std::vector<std::string> names = arguments.names;
  if (arguments.vms > 0 && !names.empty())
    throw UsageError("name the images or give --vms, not both");
  if (arguments.vms > 0) names = vm_names(arguments.vm_name, local_host_name(), arguments.vms);
  if (names.empty()) throw UsageError("no images are named", "give their names, or --vms N");
  std::vector<ImageSpec> images;
  for (const auto& name : names) {
    images.push_back(parse_image_spec(name, arguments.pool, arguments.rados_namespace));
    if (!images.back().snapshot.empty()) throw UsageError(fmt::format("'{}' is a snapshot", name));
    if (std::count(images.begin(), images.end(), images.back()) > 1)
      throw UsageError(fmt::format("'{}' is named twice", name));
  }
  return images;
}

ImageShape shape_of(const Arguments& arguments) {
  ImageShape shape;
  if (!arguments.clone_from.empty()) {
    shape.clone_from = parse_image_spec(arguments.clone_from, arguments.pool);
    if (shape.clone_from->snapshot.empty())
      throw UsageError(fmt::format("--clone-from {}: it names no snapshot", arguments.clone_from),
                       "POOL/IMAGE@SNAPSHOT");
  } else if (arguments.size.empty()) {
    throw UsageError("--size is missing", "--size 20G, or --clone-from POOL/IMAGE@SNAPSHOT");
  }
  if (!arguments.size.empty()) shape.size_bytes = parse_size(arguments.size, "--size");
  if (!arguments.size.empty() && shape.size_bytes == 0)
    throw UsageError("--size: an image of no bytes holds nothing");
  if (!arguments.object_size.empty())
    shape.object_size_bytes = parse_size(arguments.object_size, "--object-size");
  shape.data_pool = arguments.data_pool;
  shape.features = arguments.features;
  return shape;
}

void tell_prefill(const PrefillReport& report) {
  fmt::print("{} written, {} known to be written before, {} in all{}\n",
             format_size(report.written_bytes), format_size(report.found_bytes),
             format_size(report.total_bytes),
             report.complete ? "" : " (stopped: the same command goes on from here)");
  for (const auto& spec : report.adopted) fmt::print("{} was empty and is ours now\n", spec.text());
}

int list(const VolumeContext& context, const Arguments& arguments) {
  auto watchers = watcher_knowledge(context.cluster->fsid());
  watchers.own.insert(context.cluster->instance_id());
  std::vector<ImageSpec> specs;
  for (const auto& name : list_images(*context.cluster, arguments.pool, arguments.rados_namespace))
    specs.push_back({arguments.pool, arguments.rados_namespace, name, ""});
  TextTable table({"IMAGE", "     SIZE", "STATE", "RUN", "HOST"}, 5);
  size_t shown = 0;
  for (const auto& state : examine_images(context.cluster, specs, watchers)) {
    if (!state.ours && !arguments.all) continue;
    ++shown;
    std::string states;
    for (const auto& finding : state.report.findings)
      if (state.report.findings.size() == 1 || finding.state != TargetState::kOurs)
        states += (states.empty() ? "" : ", ") + std::string(target_state_name(finding.state));
    const bool tagged = state.ours && state.tag;
    table.add({state.spec.text(), fmt::format("{:>9}", format_size(state.size_bytes)), states,
               tagged ? state.tag->run.run_id : "-", tagged ? state.tag->run.host : "-"});
  }
  if (shown > 0)
    std::fputs(table.text().c_str(), stdout);
  else
    fmt::print(stderr, "There are no images{} in {}{}.\n", arguments.all ? "" : " of cephmark",
               arguments.rados_namespace.empty() ? arguments.pool
                                                 : arguments.pool + "/" + arguments.rados_namespace,
               specs.empty() ? "" : fmt::format(" ({} others; --all shows them)", specs.size()));
  return 0;
}

int act(const std::string& verb, const Arguments& arguments, VolumeContext& context,
        Progress& progress) {
  if (verb == "list") return list(context, arguments);
  const auto images = images_of(arguments);
  if (verb == "remove") {
    const size_t removed = remove_volumes(context, images);
    progress.finish();
    fmt::print("{} image{} removed", removed, removed == 1 ? "" : "s");
    if (removed < images.size())
      fmt::print(", {} {} not there", images.size() - removed,
                 images.size() - removed == 1 ? "was" : "were");
    fmt::print("\n");
    return 0;
  }
  const auto manifest =
      Manifest::create(make_run_id("volumes"), context.cluster->target(), context.cluster->fsid());
  manifest->add_instance(context.cluster->instance_id());
  context.manifest = manifest.get();
  if (verb == "create") {
    const auto report = create_volumes(context, images, shape_of(arguments), true);
    progress.finish();
    fmt::print("{} image{} made", report.created.size(), report.created.size() == 1 ? "" : "s");
    if (!report.found.empty())
      fmt::print(", {} {} there already", report.found.size(),
                 report.found.size() == 1 ? "was" : "were");
    fmt::print("\n");
  }
  if (verb == "prefill" || arguments.prefill) {
    const auto report = prefill_volumes(context, images);
    progress.finish();
    tell_prefill(report);
    if (!report.complete) return SignalWatcher::exit_code();
  }
  return 0;
}

}  // namespace

int run_volumes_command(const std::vector<std::string>& argv) {
  CLI::App app(
      "The images of simulated VMs: made, wholly written, listed and removed, many at once.",
      "cephmark volumes");
  Arguments arguments;
  app.require_subcommand(1);
  CLI::App* create = app.add_subcommand("create", "make images and tag them as cephmark's");
  CLI::App* prefill =
      app.add_subcommand("prefill", "write whatever of the images was never written");
  CLI::App* list_them = app.add_subcommand("list", "the images of cephmark in a pool");
  CLI::App* remove = app.add_subcommand("remove", "remove images that cephmark made");
  for (CLI::App* command : {create, prefill, remove}) add_names(*command, arguments);
  for (CLI::App* command : {create, prefill, list_them, remove}) add_common(*command, arguments);
  add_create(*create, arguments);
  list_them->add_flag("--all", arguments.all, "also images that are not cephmark's");
  prefill
      ->add_option("--allow-write", arguments.allow_write,
                   "images (or patterns) whose data may be overwritten")
      ->type_name("IMAGE");
  if (!parse_command_line(app, argv)) return 0;
  const std::string verb = app.get_subcommands()[0]->get_name();
  if (verb == "create") shape_of(arguments);  // mistakes are told before the cluster is asked
  if (verb != "list") images_of(arguments);

  std::stop_source stop;
  const SignalWatcher signals(stop);
  VolumeContext context;
  context.cluster = Cluster::connect(resolve_ceph_target(arguments.ceph));
  context.allow_write = arguments.allow_write;
  context.parallel = static_cast<size_t>(arguments.parallel);
  Progress progress(std::cerr, progress_options(STDERR_FILENO, arguments.quiet));
  context.progress = [&](const std::string& what, uint64_t done, uint64_t total) {
    progress.progress(what, done, total);
  };
  context.stop = stop.get_token();
  return act(verb, arguments, context, progress);
}

}  // namespace cephmark
