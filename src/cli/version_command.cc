#include <cstdio>

#include "base/version.h"
#include "cli/commands.h"

namespace cephmark {

int run_version_command(const std::vector<std::string>&) {
  std::printf("cephmark %s\n", kVersion);
  return 0;
}

}  // namespace cephmark
