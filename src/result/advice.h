// advice: what makes a result doubtful, drawn from the result alone. Pure functions; one row per
// rule, each code a heading in docs/measuring.md (a test compares the two).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "result/run_result.h"

namespace cephmark {

/// All warnings that the result deserves by the rules, in the order of the rules.
std::vector<Taint> advice_for(const RunResult& result);

/// Adds advice_for(result) to result.taints; a code that a runner has put there already is not told
/// twice.
void add_advice(RunResult& result);

/// Every code that a rule or a runner may put into a result.
std::span<const std::string_view> advice_codes();

/// Those of them that advice_for() may give.
std::span<const std::string_view> advice_rule_codes();

}  // namespace cephmark
