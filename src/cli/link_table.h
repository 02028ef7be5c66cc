// link_table: the names under which the program may be called instead of cephmark (links), to stand
// in for another program. A new one is a row here and a parser in src/compat.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cephmark {

struct LinkRow {
  std::string_view name;
  std::string_view summary;
  /// argv[0] is the name called. Returns the exit code; throws Error.
  int (*run)(const std::vector<std::string>& argv);
};

std::span<const LinkRow> link_table();

}  // namespace cephmark
