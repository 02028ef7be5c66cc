// cephmark results list | show ID | export ID FILE: the results that were kept.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/error.h"
#include "base/fd.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "output/cells.h"
#include "output/output_set.h"
#include "result/codec.h"
#include "result/results_directory.h"

namespace cephmark {
namespace {

int list_results(const ResultsDirectory& results) {
  const auto entries = results.list();
  if (entries.empty()) {
    fmt::print(stderr, "There are no results in {} yet.\n", results.path());
    return 0;
  }
  TextTable table({"RESULT", "VMS", "IOPS", "MIB/S", "ERRORS", "WARNINGS", ""}, 1);
  for (const auto& entry : entries) {
    if (!entry.problem.empty()) {
      table.add({entry.id, "-", "-", "-", "-", "-", "not readable"});
      fmt::print(stderr, "cephmark: {}\n", entry.problem);
      continue;
    }
    table.add({entry.id, std::to_string(entry.vms), iops_text(entry.iops),
               mib_text(entry.bytes_per_s), std::to_string(entry.errors),
               std::to_string(entry.doubts), entry.stopped ? "stopped early" : ""});
  }
  std::fputs(table.text().c_str(), stdout);
  return 0;
}

int show_result(const ResultsDirectory& results, const std::string& name,
                const std::vector<std::string>& formats) {
  const RunResult result = results.load(results.find(name));
  OutputSet outputs(formats);
  outputs.begin(result.plan);
  outputs.end(result);
  return 0;
}

int export_result(const ResultsDirectory& results, const std::string& name,
                  const std::string& file) {
  const std::string id = results.find(name);
  const RunResult result = results.load(id);  // what cannot be read is not handed on
  OutputSet({"json:" + file}).end(result);
  fmt::print(stderr, "{} written to {}\n", id, file);
  return 0;
}

}  // namespace

int run_results_command(const std::vector<std::string>& argv) {
  CLI::App app("Lists, shows and exports the results that were kept.", "cephmark results");
  app.require_subcommand(1);
  std::string name, file, directory;
  std::vector<std::string> formats;
  app.add_option("--dir", directory,
                 "the directory of the results (default: in the XDG data folder)");
  auto* list = app.add_subcommand("list", "all results, newest first");
  auto* show = app.add_subcommand("show", "the report of a result");
  show->add_option("ID", name, "an id, its beginning, or 'last'")->required();
  show->add_option("--output", formats, output_option_help());
  auto* hand_over = app.add_subcommand("export", "write a result as JSON to a file");
  hand_over->add_option("ID", name, "an id, its beginning, or 'last'")->required();
  hand_over->add_option("FILE", file, "the file to write; an older one is replaced")->required();
  if (!parse_command_line(app, argv)) return 0;
  const ResultsDirectory results(directory);
  if (list->parsed()) return list_results(results);
  if (show->parsed()) return show_result(results, name, formats);
  return export_result(results, name, file);
}

}  // namespace cephmark
