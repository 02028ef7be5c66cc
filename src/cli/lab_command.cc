// cephmark lab: a small real cluster on this machine. The work is done in src/lab; here it is told.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "base/error.h"
#include "base/subprocess.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/shell_word.h"
#include "lab/lab.h"

namespace cephmark {
namespace {

struct LabArguments {
  std::string directory, osd_size, bind, store;
  int osds = 0, replicas = 0, osd = -1;
  bool cephfs = false, json = false, quiet = false;
};

LabProgress progress(bool quiet) {
  const int64_t start_ns = monotonic_ns();
  return [=](const std::string& line) {
    if (!quiet)
      fmt::print(stderr, "lab [{:5.1f} s] {}\n",
                 1e-9 * static_cast<double>(monotonic_ns() - start_ns), line);
  };
}

const char* state_word(ProcessState state) {
  switch (state) {
    case ProcessState::kRunning:
      return "running";
    case ProcessState::kPaused:
      return "paused";
    case ProcessState::kGone:
      return "not running";
  }
  return "";
}

int up(const LabArguments& arguments, const CLI::App& command) {
  LabOptions options;
  if (command.count("--osds")) options.osds = arguments.osds;
  if (command.count("--replicas")) options.replicas = arguments.replicas;
  if (command.count("--store")) options.store = arguments.store;
  if (command.count("--osd-size"))
    options.osd_size_bytes = parse_size(arguments.osd_size, "--osd-size");
  if (command.count("--bind")) options.bind = arguments.bind;
  options.cephfs = arguments.cephfs;
  const LabProgress say = progress(arguments.quiet);
  const Lab lab = lab_up(arguments.directory, options, say);
  say(fmt::format("ready: Ceph {}, OSDs: {}, pool 'rbd', replicas: {}, all PGs active+clean",
                  lab.ceph_version(), lab.osd_count(), lab.setup().replicas));
  const std::string dir =
      arguments.directory.empty() ? "" : fmt::format(" --dir {}", lab.directory());
  say(fmt::format("configuration: {}", lab.conf_path()));
  say(
      fmt::format("use it: 'cephmark lab exec{} -- rbd ls', or eval \"$(cephmark lab env{})\"; end "
                  "it: 'cephmark lab down{}'",
                  dir, dir, dir));
  return 0;
}

Json daemons_json(const Lab& lab) {
  Json result = Json::array();
  for (const LabDaemon& daemon : lab.daemons()) {
    Json entry = {{"name", daemon.name}, {"state", state_word(daemon.state)}};
    if (daemon.pid) entry["pid"] = daemon.pid;
    result.push_back(entry);
  }
  return result;
}

std::string pg_text(const Json& map) {
  std::vector<std::string> parts;
  const Json states = map.value("pgs_by_state", Json::array());
  for (const Json& entry : states)
    parts.push_back(fmt::format("{} {}", entry.at("count").get<int>(),
                                entry.at("state_name").get<std::string>()));
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

// What the cluster says of itself; empty with `why` when it does not answer.
Json cluster_status(const Lab& lab, std::string& why) {
  if (lab.pid("mon.a") == 0) {
    why = "its monitor does not run";
    return {};
  }
  try {
    return lab.ceph_json({"status"}, 10 * kNsPerSecond);
  } catch (const Error& error) {
    why = error.what();
    return {};
  }
}

int status(const LabArguments& arguments) {
  const std::optional<Lab> lab = Lab::find(arguments.directory);
  if (!lab) {
    if (arguments.json)
      fmt::print(
          "{}\n",
          Json({{"directory", lab_directory(arguments.directory)}, {"exists", false}}).dump(2));
    throw Error(fmt::format("there is no lab in {}", lab_directory(arguments.directory)),
                "'cephmark lab up' makes one");
  }
  std::string why;
  const Json cluster = lab->ready() ? cluster_status(*lab, why) : Json();
  const std::string health =
      cluster.is_object() ? cluster.at("health").at("status").get<std::string>() : "";
  bool all_run = lab->ready();
  for (const LabDaemon& daemon : lab->daemons())
    all_run = all_run && daemon.state == ProcessState::kRunning;
  const int code = all_run && !health.empty() ? 0 : static_cast<int>(ExitCode::kEnvironment);

  if (arguments.json) {
    Json document = {
        {"directory", lab->directory()}, {"exists", true},
        {"complete", lab->ready()},      {"conf", lab->conf_path()},
        {"fsid", lab->fsid()},           {"ceph_version", lab->ceph_version()},
        {"osds", lab->osd_count()},      {"replicas", lab->setup().replicas},
        {"store", lab->setup().store},   {"osd_size_bytes", lab->setup().osd_size_bytes},
        {"daemons", daemons_json(*lab)}};
    if (cluster.is_object()) document["cluster"] = cluster;
    fmt::print("{}\n", document.dump(2));
    return code;
  }
  const LabSetup& setup = lab->setup();
  fmt::print("lab        {}{}\n", lab->directory(),
             lab->ready() ? "" : "  (half made: 'cephmark lab up' makes it anew)");
  fmt::print("conf       {}\nfsid       {}\nversion    Ceph {}\n", lab->conf_path(), lab->fsid(),
             lab->ceph_version());
  fmt::print("made of    {}, at {}\n", shape_text(setup), setup.bind);
  for (const LabDaemon& daemon : lab->daemons())
    fmt::print("{:<10} {}{}\n", daemon.name, state_word(daemon.state),
               daemon.pid ? fmt::format(" (pid {})", daemon.pid) : "");
  if (!cluster.is_object()) {
    fmt::print("health     unknown: {}\n", why.empty() ? "it was not made to the end" : why);
    return code;
  }
  const Json& map = cluster.at("pgmap");
  fmt::print("health     {}\n", health);
  const Json checks = cluster.at("health").value("checks", Json::object());
  for (const auto& [name, check] : checks.items())
    fmt::print("           {}: {}\n", name, check.at("summary").at("message").get<std::string>());
  fmt::print("PGs        {}\n", pg_text(map));
  fmt::print("raw space  {} used of {}\n", format_size(map.value("bytes_used", uint64_t{0})),
             format_size(map.value("bytes_total", uint64_t{0})));
  return code;
}

int env(const LabArguments& arguments) {
  const Lab lab = Lab::open(arguments.directory);
  for (const auto& [name, value] : lab_environment(lab)) {
    if (value.empty()) {
      fmt::print("unset {};\n", name);
    } else {
      fmt::print("export {}={};\n", name, shell_quoted(value));
    }
  }
  return 0;
}

int exec(const LabArguments& arguments, std::vector<std::string> words) {
  if (words.empty())
    throw UsageError("lab exec needs a command", "for example: cephmark lab exec -- rbd ls");
  const Lab lab = Lab::open(arguments.directory);
  if (lab.pid("mon.a") == 0)
    throw Error(fmt::format("the lab in {} does not run", lab.directory()),
                "'cephmark lab up' starts it");
  for (const auto& [name, value] : lab_environment(lab)) {
    if (value.empty()) {
      ::unsetenv(name.c_str());
    } else {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
  const std::string program = find_program(words[0]);
  if (program.empty())
    throw Error(fmt::format("cannot run '{}': no such program on PATH", words[0]));
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  throw Error(fmt::format("cannot run {}: {}", program, errno_text(errno)));
}

int down(const LabArguments& arguments) {
  const LabProgress say = progress(arguments.quiet);
  const std::string directory = lab_directory(arguments.directory);
  say(lab_down(arguments.directory, say)
          ? fmt::format("the lab in {} is gone", directory)
          : fmt::format("there is no lab in {}: nothing to do", directory));
  return 0;
}

int osd(const LabArguments& arguments, const std::string& verb) {
  const LabProgress say = progress(arguments.quiet);
  Lab lab = Lab::open(arguments.directory);
  if (verb == "stop") lab.stop_osd(arguments.osd, say);
  if (verb == "start") lab.start_osd(arguments.osd, say);
  if (verb == "pause") lab.pause_osd(arguments.osd);
  if (verb == "resume") lab.resume_osd(arguments.osd);
  const LabDaemon daemon = lab.daemons().at(2 + static_cast<size_t>(arguments.osd));
  say(fmt::format("{} is {}", daemon.name, state_word(daemon.state)));
  return 0;
}

void add_common(CLI::App& command, LabArguments& arguments) {
  command.add_option(
      "--dir", arguments.directory,
      "the lab's directory (default: $CEPHMARK_LAB_DIR, or " + lab_directory() + ")");
  command.add_flag("--quiet", arguments.quiet, "no progress on standard error");
}

CLI::App& add_up(CLI::App& app, LabArguments& arguments) {
  CLI::App& command =
      *app.add_subcommand("up", "make the lab, or mend it; back when all PGs are active+clean");
  command.add_option("--osds", arguments.osds, "number of OSDs (default 3)")
      ->check(whole_number(1))
      ->type_name("N");
  command
      .add_option("--replicas", arguments.replicas,
                  "copies of each object in pool 'rbd' (default 3, or --osds if fewer)")
      ->check(whole_number(1))
      ->type_name("N");
  command
      .add_option("--store", arguments.store, "bluestore (files, the default) or memstore (memory)")
      ->type_name("STORE");
  command.add_option("--osd-size", arguments.osd_size, "size of each OSD (default 4G)")
      ->type_name("SIZE");
  command
      .add_option("--bind", arguments.bind,
                  "address of this machine to listen at (default 127.0.0.1)")
      ->type_name("ADDRESS");
  command.add_flag("--cephfs", arguments.cephfs, "also an MDS and the file system 'cephfs'");
  return command;
}

}  // namespace

int run_lab_command(const std::vector<std::string>& argv) {
  LabArguments arguments;
  CLI::App app(
      "A small real Ceph cluster on this machine, from Ceph's own daemons, in one directory.",
      "cephmark lab");
  app.require_subcommand(1);
  CLI::App& up_command = add_up(app, arguments);
  CLI::App& status_command = *app.add_subcommand(
      "status", "its daemons, health and space (exit code 3 when it does not run)");
  status_command.add_flag("--json", arguments.json, "as JSON");
  CLI::App& env_command =
      *app.add_subcommand("env", "shell commands that point Ceph's tools at the lab");
  CLI::App& exec_command =
      *app.add_subcommand("exec", "run a command against the lab: exec -- rbd ls");
  exec_command.prefix_command();
  CLI::App& down_command = *app.add_subcommand("down", "end its processes and remove its data");
  CLI::App& osd_command =
      *app.add_subcommand("osd", "faults: stop or pause an OSD, start or resume it");
  osd_command.require_subcommand(1);
  for (const auto& [verb, summary] : {std::pair{"stop", "end it (SIGTERM)"},
                                      {"start", "start it, back when it is up"},
                                      {"pause", "SIGSTOP: it lives, but answers nobody"},
                                      {"resume", "SIGCONT"}}) {
    CLI::App& command = *osd_command.add_subcommand(verb, summary);
    command.add_option("N", arguments.osd, "number of the OSD")
        ->required()
        ->check(whole_number(0))
        ->type_name("");
    add_common(command, arguments);
  }
  for (CLI::App* command :
       {&up_command, &status_command, &env_command, &exec_command, &down_command})
    add_common(*command, arguments);

  // What follows "--" is the command of exec, not ours to read.
  const auto ours_end = std::find(argv.begin(), argv.end(), "--");
  if (!parse_command_line(app, {argv.begin(), ours_end})) return 0;
  if (up_command.parsed()) return up(arguments, up_command);
  if (status_command.parsed()) return status(arguments);
  if (env_command.parsed()) return env(arguments);
  if (exec_command.parsed()) {
    std::vector<std::string> words = exec_command.remaining();
    if (ours_end != argv.end()) words.insert(words.end(), ours_end + 1, argv.end());
    return exec(arguments, std::move(words));
  }
  if (ours_end != argv.end())
    throw UsageError("lab: only 'lab exec' takes words after --", "cephmark lab --help");
  if (down_command.parsed()) return down(arguments);
  return osd(arguments, osd_command.get_subcommands().front()->get_name());
}

}  // namespace cephmark
