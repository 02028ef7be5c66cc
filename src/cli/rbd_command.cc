// cephmark rbd: rbd's bench by its own command line, texts and exit codes. What is better than the
// original's is told in docs/rbd-bench.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <iostream>

#include "base/error.h"
#include "base/rng.h"
#include "ceph/image.h"
#include "cli/ceph_options.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/real_program.h"
#include "cli/session.h"
#include "compat/rbd_arguments.h"
#include "compat/rbd_plan.h"
#include "output/ceph_text.h"
#include "output/rbd_bench_report.h"

namespace cephmark {
namespace {

constexpr const char* kOnlyRbdBench = "only rbd's bench is done here";

// For completion and the man page.
int show_help() {
  CLI::App app{
      "rbd's bench by its own command line: bench IMAGE --io-type read|write|rw.\n"
      "  cephmark rbd bench rbd/disk-1 --io-type read --io-pattern rand --run-time 30s",
      "cephmark rbd"};
  for (const RbdOptionHelp& option : rbd_option_help())
    describe_option(app, option.name, option.value, option.help,
                    option.ours ? "Not rbd's" : "Options");
  if (!describe_to_reader(app)) std::cout << app.help() << std::flush;
  return 0;
}

void pass_on(const std::vector<std::pair<std::string, std::string>>& options) {
  std::vector<std::string> words;
  for (const auto& [name, value] : options) words.push_back(fmt::format("--{}={}", name, value));
  pass_on_to_ceph(words);
}

[[noreturn]] void missing(const std::string& what) {
  throw RbdRefusal(fmt::format("error opening {}: {}", what, ceph_errno_text(ENOENT)), ENOENT);
}

RbdBenchImage look_at(const RbdArguments& arguments) {
  const std::string pool = arguments.pool.empty() ? "rbd" : arguments.pool;
  const ImageSpec spec =
      parse_image_spec(arguments.image_spec.empty() ? arguments.image : arguments.image_spec, pool,
                       arguments.rados_namespace);
  const auto cluster = Cluster::connect(arguments.ceph);
  for (const auto& [name, value] : arguments.ceph_options)
    if (!cluster->knows_option(name)) {
      std::string word = name;
      std::replace(word.begin(), word.end(), '_', '-');
      throw RbdRefusal(fmt::format("unrecognised option '--{}'", word));
    }
  const auto pools = cluster->pools();
  if (std::find(pools.begin(), pools.end(), spec.pool) == pools.end())
    missing(fmt::format("pool '{}'", spec.pool));
  const auto namespaces = list_namespaces(*cluster, spec.pool);
  if (!spec.rados_namespace.empty() &&
      std::find(namespaces.begin(), namespaces.end(), spec.rados_namespace) == namespaces.end())
    throw RbdRefusal(fmt::format("namespace '{}' does not exist.", spec.rados_namespace), ENOENT);
  const auto image = Image::open(cluster, spec, true);
  if (!image) missing("image " + spec.name);
  return {spec.pool, spec.rados_namespace,
          spec.name + (spec.snapshot.empty() ? "" : "@" + spec.snapshot), image->size_bytes()};
}

RbdBenchReportOptions report_options(const RbdArguments& arguments, bool compat) {
  RbdBenchReportOptions report;
  report.compat = compat;
  report.reads = arguments.type != RbdBenchType::kWrite;
  report.writes = arguments.type != RbdBenchType::kRead;
  report.read_percent = arguments.rw_mix_read;
  report.io_size_bytes = arguments.io_size_bytes;
  report.io_total_bytes = arguments.io_total_bytes;
  report.total_is_limit = arguments.run_time_ns == 0 || arguments.io_total_given;
  report.io_threads = arguments.io_threads;
  report.pattern = arguments.pattern == RbdBenchPattern::kRandom           ? "random"
                   : arguments.pattern == RbdBenchPattern::kFullSequential ? "full sequential"
                                                                           : "sequential";
  return report;
}

int first_error(const RunResult& result) {
  for (Op op : {Op::kWrite, Op::kRead, Op::kFlush}) {
    const OpResult all = result.total(op);
    if (!all.errors.empty()) return all.errors.begin()->first;
  }
  return 1;
}

int bench(const RbdArguments& arguments, const std::vector<std::string>& argv, bool compat) {
  pass_on(arguments.ceph_options);
  const RbdBenchImage image = look_at(arguments);
  const uint64_t seed = fresh_seed();
  Plan plan;
  try {
    plan = make_rbd_bench_plan(arguments, image, argv, compat, static_cast<uint8_t>(seed));
  } catch (const RbdRefusal& refusal) {
    // The original has opened the image by then.
    std::cerr << "rbd: " << refusal.what()
              << "\nbench failed: " << ceph_errno_text(refusal.exit_code()) << "\n";
    return refusal.exit_code();
  }
  plan.seed = seed;
  SessionOptions session;
  session.quiet = compat;
  OutputSet outputs(make_rbd_bench_report(std::cout, report_options(arguments, compat)));
  const SessionEnd end = run_session(std::move(plan), session, outputs);
  const bool own = end.exit_code != static_cast<int>(ExitCode::kIoErrors);
  return leave_process(end, own ? end.exit_code : first_error(end.result));
}

int tell(const Error& error, int exit_code) {
  std::cerr << "rbd: " << error.what() << "\n";
  if (!error.hint().empty()) std::cerr << "  hint: " << error.hint() << "\n";
  return exit_code;
}

int rbd(const std::vector<std::string>& argv, bool is_link) {
  try {
    const RbdArguments arguments = parse_rbd_arguments(argv);
    switch (arguments.action) {
      case RbdAction::kHelp:
        if (is_link) become_real_program("rbd", argv, kOnlyRbdBench);
        return show_help();
      case RbdAction::kOther:
        become_real_program("rbd", argv, kOnlyRbdBench);
      case RbdAction::kBenchWrite:
        std::cerr << "rbd: bench-write is deprecated, use rbd bench --io-type write ...\n";
        break;
      case RbdAction::kBench:
        break;
    }
    const int code = bench(arguments, argv, arguments.compat.value_or(is_link));
    if (!std::cout.flush()) throw Error("the output could not be written whole");
    return code;
  } catch (const RbdRefusal& refusal) {
    return tell(refusal, refusal.exit_code());
  } catch (const Error& error) {
    return tell(error, is_link ? 1 : static_cast<int>(error.code()));
  }
}

}  // namespace

int run_rbd_command(const std::vector<std::string>& argv) {
  return rbd(argv, false);
}

int run_rbd_link(const std::vector<std::string>& argv) {
  return rbd(argv, true);
}

}  // namespace cephmark
