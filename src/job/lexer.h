// lexer: the lines of a job file: sections, options, comments, includes, variables. It knows no
// option. Pure but for the two functions it is given to look at the world with. Rules: fio's
// (docs/job-file.md says which).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "job/diagnostics.h"

namespace cephmark {

/// What a job file may ask of the world. Replaced in tests; a job file from another host must not
/// read our files.
struct SourceAccess {
  /// Contents of an included file; nothing when it cannot be read.
  std::function<std::optional<std::string>(const std::string& path)> read_file;
  /// ${NAME}
  std::function<std::optional<std::string>(const std::string& name)> variable;
  /// $ncpus, $pagesize, $mb_memory
  std::function<std::optional<long long>(std::string_view keyword)> keyword;

  static SourceAccess
  real();  ///< files relative to the working directory, the process's environment
  static SourceAccess none();  ///< no files, no variables; keywords 1, 4096, 1024
};

struct RawOption {
  std::string name;
  std::string value;
  bool has_value = false;  ///< there was a '='
  char cut_by = 0;         ///< '#' or ';' when a comment began in the middle of a word of the value
  bool has_comment = false;    ///< text behind the value was dropped as a comment
  SourcePosition where;        ///< the name
  SourcePosition value_where;  ///< the value (the name when there is none)
};

struct RawSection {
  std::string name;
  bool is_global = false;  ///< any name that starts with "global": defaults for the jobs below
  SourcePosition where;
  std::vector<RawOption> options;
};

/// Splits a job file into sections. `name` is what messages call it ("write-4k.fio") and where
/// includes are looked for. Mistakes go to `diagnostics`; what could be read is returned all the
/// same.
std::vector<RawSection> lex_job_file(std::string_view text, const std::string& name,
                                     const SourceAccess& access, Diagnostics& diagnostics);

/// "a/b" of path "a/b/c.fio"; "" when there is none.
std::string folder_of(const std::string& path);

}  // namespace cephmark
