// cephmark completion SHELL and cephmark man: what shells and man(1) need to know of the commands.
#include <CLI/CLI.hpp>
#include <iostream>

#include "cli/command_line.h"
#include "cli/command_reference.h"
#include "cli/commands.h"

namespace cephmark {

int run_completion_command(const std::vector<std::string>& argv) {
  CLI::App app("Prints a script that makes a shell complete cephmark's commands and options.",
               "cephmark completion");
  app.footer(R"(
Examples:
  source <(cephmark completion bash)
  cephmark completion zsh > ~/.zfunc/_cephmark
  cephmark completion fish > ~/.config/fish/completions/cephmark.fish
)");
  std::string shell;
  app.add_option("SHELL", shell, "bash, zsh or fish")->required()->type_name("");
  if (!parse_command_line(app, argv)) return 0;
  std::cout << completion_script(shell);
  return 0;
}

int run_man_command(const std::vector<std::string>& argv) {
  CLI::App app("Prints the manual page, cephmark(1), in man's language.", "cephmark man");
  app.footer(R"(
Examples:
  cephmark man | man -l -
  cephmark man > /usr/local/share/man/man1/cephmark.1
)");
  if (!parse_command_line(app, argv)) return 0;
  std::cout << man_page();
  return 0;
}

}  // namespace cephmark
