// The rules of advice.cc, one function each: the warning's text, or "" when the rule does not
// apply. Pure functions. The thresholds and why they are what they are: docs/measuring.md, under
// the code of each rule.
#pragma once

#include <string>

#include "result/figures.h"

namespace cephmark {

std::string interrupted_rule(const RunResult&, const RunFigures&);
std::string guard_rule(const RunResult&, const RunFigures&);
std::string errors_rule(const RunResult&, const RunFigures&);
std::string unwritten_rule(const RunResult&, const RunFigures&);
std::string cache_rule(const RunResult&, const RunFigures&);
std::string buffered_rule(const RunResult&, const RunFigures&);
std::string memory_rule(const RunResult&, const RunFigures&);
std::string working_set_rule(const RunResult&, const RunFigures&);
std::string compressed_rule(const RunResult&, const RunFigures&);
std::string counters_rule(const RunResult&, const RunFigures&);
std::string background_rule(const RunResult&, const RunFigures&);
std::string health_rule(const RunResult&, const RunFigures&);
std::string cpu_rule(const RunResult&, const RunFigures&);
std::string late_rule(const RunResult&, const RunFigures&);
std::string synchronous_rule(const RunResult&, const RunFigures&);
std::string depth_rule(const RunResult&, const RunFigures&);
std::string short_rule(const RunResult&, const RunFigures&);
std::string windows_rule(const RunResult&, const RunFigures&);
std::string samples_rule(const RunResult&, const RunFigures&);
std::string approximate_rule(const RunResult&, const RunFigures&);

}  // namespace cephmark
