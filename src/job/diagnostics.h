// Diagnostics: every mistake and every doubtful spot of a job file, collected while it is read so
// that a user sees all of them at once. Plain data, owned by the caller of the parser, one thread
// at a time.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cephmark {

/// A text that positions point into: a job file, an included file, a command line.
struct SourceFile {
  std::string name;
  std::vector<std::string> lines;
};

/// A place in a source text. `line` 0: the text as a whole.
struct SourcePosition {
  std::shared_ptr<const SourceFile> file;
  int line = 0;    ///< from 1
  int column = 0;  ///< in bytes, from 1
  int length = 1;  ///< bytes marked by the caret

  std::string text() const;       ///< "write-4k.fio:3:7", "write-4k.fio" for a text as a whole
  std::string line_text() const;  ///< "write-4k.fio:3"
};

enum class Severity : uint8_t { kWarning, kError };

struct Diagnostic {
  Severity severity = Severity::kError;
  SourcePosition where;
  std::string message;
  std::string hint;  ///< what to do about it; may be empty
};

class Diagnostics {
 public:
  /// Mistakes beyond this many are counted, not kept.
  static constexpr size_t kMaxKept = 200;

  /// The same words at the same place are kept once: a [global] option is looked at again for each
  /// job below it.
  void error(const SourcePosition& where, std::string message, std::string hint = "");
  void warn(const SourcePosition& where, std::string message, std::string hint = "");
  /// A warning that stands for a kind: said at its first place only.
  void warn_once(std::string_view kind, const SourcePosition& where, std::string message,
                 std::string hint = "");

  /// An error was said about something in this line: what follows from it need not be said.
  bool has_error_in_line_of(const SourcePosition& where) const;
  bool ok() const { return error_count_ == 0; }
  size_t error_count() const { return error_count_; }
  bool has_warnings() const { return warning_count_ > 0; }
  const std::vector<Diagnostic>& all() const { return kept_; }

  /// Errors (or warnings) as people read them: place, words, the line with a caret, the hint. In
  /// order of place.
  std::string render(Severity severity) const;
  /// One line per warning, for Plan::warnings: "write-4k.fio:3: ...".
  std::vector<std::string> warning_lines() const;
  /// Throws UsageError with all errors rendered, and all warnings behind them; does nothing when
  /// there are no errors.
  void throw_if_errors() const;

 private:
  void add(Severity severity, const SourcePosition& where, std::string message, std::string hint);

  std::vector<Diagnostic> kept_;
  std::set<std::string> seen_;
  std::set<std::string, std::less<>> kinds_;
  size_t error_count_ = 0, warning_count_ = 0;
};

}  // namespace cephmark
