// command_table: the one list of subcommands. A new one is a row here and a foo_command.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cephmark {

struct CommandRow {
  std::string_view name;
  std::string_view summary;
  /// argv[0] is the subcommand's name. Returns the exit code; throws Error.
  int (*run)(const std::vector<std::string>& argv);
};

std::span<const CommandRow> command_table();

/// The whole program: dispatches on argv[0] (links) and argv[1], prints errors, returns the exit
/// code.
int cli_main(int argc, char** argv);

}  // namespace cephmark
