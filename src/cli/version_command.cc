#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/version.h"
#include "cli/command_line.h"
#include "cli/commands.h"

namespace cephmark {

int run_version_command(const std::vector<std::string>& argv) {
  CLI::App app("Prints the version.", "cephmark version");
  if (!parse_command_line(app, argv)) return 0;
  std::printf("cephmark %s\n", kVersion);
  return 0;
}

}  // namespace cephmark
