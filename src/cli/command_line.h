// command_line: how every subcommand reads its words with CLI11: help, mistakes and "did you mean"
// are told in one way.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cephmark {

/// Parses argv (argv[0] is the command; `app` is called "cephmark COMMAND"). False: help was asked
/// for and printed, the command is done. Throws UsageError for a wrong command line: an unknown
/// option or subcommand with what may have been meant, else in the words of CLI11.
bool parse_command_line(CLI::App& app, const std::vector<std::string>& argv);

/// For an option that takes a whole number: what is none, or not within, is refused in our words.
CLI::Validator whole_number(int64_t least, int64_t most = INT32_MAX);

/// For a command that reads its words in another way: a HelpReader that waits gets `app`, which
/// only describes. False: nobody waits, the command prints its help itself.
bool describe_to_reader(const CLI::App& app);

/// Adds an option to an App that only describes. `value`: what it takes; "": a flag.
void describe_option(CLI::App& app, std::string_view name, std::string_view value,
                     std::string_view help, const std::string& group);

/// While one lives, --help is not printed: `read` gets what the command takes (command_reference).
/// One at a time, on the thread that parses.
class HelpReader {
 public:
  explicit HelpReader(std::function<void(const CLI::App& app)> read);
  ~HelpReader();
  HelpReader(const HelpReader&) = delete;
  HelpReader& operator=(const HelpReader&) = delete;
};

}  // namespace cephmark
