// real_program: the program that a link of ours has the name of. What we do not stand in for goes
// to it, never back to ourselves.
#pragma once

#include <string>
#include <vector>

namespace cephmark {

/// The first program of that name on PATH that is not this one under another name; empty: none.
std::string real_program(const std::string& name);

/// Replaces this process by it, with the words of `argv` as they stand. Throws Error where there is
/// none, or what is on PATH is another copy of this program. `ours` is what is done here, as the
/// beginning of a sentence: "only sysbench's fileio test is done here".
[[noreturn]] void become_real_program(const std::string& name, const std::vector<std::string>& argv,
                                      const std::string& ours);

}  // namespace cephmark
