// command_reference: what every command takes, as its own --help knows it, for whatever is made of
// that: shell completion, the man page, tests. Never a second list to keep. One thread.
#pragma once

#include <string>
#include <vector>

namespace cephmark {

struct OptionReference {
  std::vector<std::string> names;  ///< "-c", "--conf"; of a positional: "JOBFILE"
  std::string value;               ///< "SIZE"; empty: a flag
  std::vector<std::string> choices;
  std::string help;
  std::string group;  ///< heading in --help
  bool positional = false;
};

struct CommandReference {
  std::string name;                 ///< "run", "lab", "up"
  std::string summary;              ///< as its row or its parent tells it
  std::string description, footer;  ///< what --help says above and below the options
  std::vector<OptionReference> options;
  std::vector<CommandReference> subcommands;
};

/// One per row of command_table, in its order.
std::vector<CommandReference> command_reference();

/// Completion for "bash", "zsh" or "fish", to be sourced. Throws UsageError for another shell.
std::string completion_script(const std::string& shell);

/// cephmark(1) in man's own language.
std::string man_page();

}  // namespace cephmark
