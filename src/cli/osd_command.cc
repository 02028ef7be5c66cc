// cephmark osd bench: the benchmark inside each OSD. cephmark osd probe: small I/O to objects of
// each OSD. Neither changes a setting.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "base/error.h"
#include "base/rng.h"
#include "base/units.h"
#include "ceph/osd_placement.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/common_options.h"
#include "cli/osd_benchmark.h"
#include "cli/session.h"
#include "fleet/osd_probe.h"
#include "output/osd_probe_report.h"
#include "output/progress.h"

namespace cephmark {
namespace {

struct ProbeArguments {
  CommonOptions common;
  OsdProbe probe;
  std::string runtime = "5s";
};

// Of this run alone: nobody else's objects begin so.
std::string probe_prefix() {
  return fmt::format("cephmark-probe-{:016x}-", fresh_seed());
}

int probe(ProbeArguments& arguments, const std::vector<std::string>& argv) {
  arguments.common.settle();
  OsdProbe& probe = arguments.probe;
  probe.runtime_ns = parse_duration_ns(arguments.runtime, "--runtime");
  const auto cluster = Cluster::connect(resolve_ceph_target(arguments.common.ceph));
  cluster->io(probe.pool, probe.rados_namespace);  // a pool that is not there is told here
  std::vector<OsdPlace> osds = list_osds(*cluster);
  std::erase_if(osds, [](const OsdPlace& osd) { return !osd.up; });
  std::vector<int> ids;
  for (const OsdPlace& osd : osds) ids.push_back(osd.id);
  std::map<int, std::vector<std::string>> names;
  {
    Progress progress(std::cerr, progress_options(STDERR_FILENO, arguments.common.session.quiet));
    names = names_by_primary(
        *cluster, probe.pool, ids, OsdProbe::kNamesPerOsd, probe_prefix(),
        [&](size_t done) { progress.progress("finding objects of each OSD", done, ids.size()); });
  }
  for (const int id : ids)
    if (!names.count(id))
      std::cerr << fmt::format("osd.{} is primary of nothing in pool {}: not probed\n", id,
                               probe.pool);
  Plan plan = make_osd_probe_plan(probe, osds, names);
  if (plan.vms.empty())
    throw Error(fmt::format("no OSD that is up serves pool {}", probe.pool), "see 'ceph osd tree'");
  plan.arguments = argv;
  arguments.common.apply(plan);
  OutputSet outputs = arguments.common.outputs.empty() ? OutputSet(make_osd_probe_report(std::cout))
                                                       : OutputSet(arguments.common.outputs);
  const SessionEnd end = run_session(std::move(plan), arguments.common.session, outputs);
  return leave_process(end, end.exit_code);
}

void add_probe(CLI::App& app, ProbeArguments& arguments) {
  app.add_option("-p,--pool", arguments.probe.pool, "where the objects are put")->required();
  app.add_option("--namespace", arguments.probe.rados_namespace, "namespace in the pool");
  app.add_option("--runtime", arguments.runtime, "of the writes, and of the reads")
      ->type_name("TIME")
      ->capture_default_str();
  arguments.common.add_to(app);
}

}  // namespace

int run_osd_command(const std::vector<std::string>& argv) {
  CLI::App app(
      "OSDs one by one: the benchmark inside each of them, and small I/O that each serves.\n"
      "  cephmark osd bench                          every OSD: throughput and 4 KiB writes\n"
      "  cephmark osd bench osd.3 12288000 4096      what 'ceph tell osd.3 bench' takes\n"
      "  cephmark osd probe -p rbd                   latency of 4 KiB I/O to each OSD",
      "cephmark osd");
  OsdBenchmarkOptions arguments;
  app.require_subcommand(1);
  CLI::App* bench_command = app.add_subcommand(
      "bench", "the OSDs' own benchmark, repeated, beside the capacity that mClock was told");
  bench_command->add_option("OSD", arguments.target, "osd.N, or all (the default)");
  bench_command
      ->add_option("SHAPE", arguments.shape,
                   "TOTAL BLOCK OBJECT NUM in bytes, as 'ceph tell osd.N bench' takes them")
      ->expected(0, 4);
  bench_command->add_option("--repeat", arguments.repeat, "how often each is measured")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  bench_command->add_option("--output", arguments.output, "text or json, with :FILE into a file")
      ->capture_default_str();
  bench_command->add_flag("--compat", arguments.compat,
                          "print what 'ceph tell' prints, and nothing else; once each");
  bench_command->add_flag("-q,--quiet", arguments.quiet, "no progress");
  add_ceph_options(*bench_command, arguments.ceph);
  ProbeArguments probe_arguments;
  CLI::App* probe_command = app.add_subcommand(
      "probe", "4 KiB writes and reads to objects of each OSD, one at a time: finds the slow one");
  add_probe(*probe_command, probe_arguments);
  if (!parse_command_line(app, argv)) return 0;
  if (probe_command->parsed()) return probe(probe_arguments, argv);
  const std::string format = arguments.output.substr(0, arguments.output.find(':'));
  if (format != "text" && format != "json")
    throw UsageError(fmt::format("--output {}: there is no such format", arguments.output),
                     "text, json, text:FILE or json:FILE");
  if (arguments.compat) arguments.repeat = 1;
  return run_osd_benchmark(arguments);
}

}  // namespace cephmark
