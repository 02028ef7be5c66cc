// command_line: how every subcommand reads its words with CLI11: help, mistakes and "did you mean"
// are told in one way.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace cephmark {

/// Parses argv (argv[0] is the command; `app` is called "cephmark COMMAND"). False: help was asked
/// for and printed, the command is done. Throws UsageError for a wrong command line: an unknown
/// option or subcommand with what may have been meant, else in the words of CLI11.
bool parse_command_line(CLI::App& app, const std::vector<std::string>& argv);

}  // namespace cephmark
