// ShellWord: text as one word of a POSIX shell. A pure function.
#pragma once

#include <string>

namespace cephmark {

/// 'it'\''s': a word that no shell looks into.
inline std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace cephmark
