#include "result/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/error.h"
#include "base/time.h"
#include "base/units.h"
#include "result/advice_rules.h"
#include "result/figures.h"

namespace cephmark {
namespace {

struct Rule {
  std::string_view code;
  std::string (*text)(const RunResult&, const RunFigures&);  ///< "" when it does not apply
};

// Worst first: what was not measured at all, then what the number is not about, then what it is not
// sure of.
constexpr auto kRules = std::to_array<Rule>({
    {"interrupted", interrupted_rule},
    {"guard", guard_rule},
    {"errors", errors_rule},
    {"unwritten-image", unwritten_rule},
    {"cache-mode", cache_rule},
    {"buffered", buffered_rule},
    {"served-from-memory", memory_rule},
    {"working-set-in-cache", working_set_rule},
    {"compressed-payload", compressed_rule},
    {"counters-disagree", counters_rule},
    {"recovery-or-scrub", background_rule},
    {"health-change", health_rule},
    {"client-cpu", cpu_rule},
    {"generator-late", late_rule},
    {"synchronous-depth", synchronous_rule},
    {"depth-not-reached", depth_rule},
    {"run-too-short", short_rule},
    {"uneven-windows", windows_rule},
    {"few-samples", samples_rule},
    {"approximate-percentiles", approximate_rule},
});

// What runners say of their own: not to be drawn from a result.
constexpr auto kRunnerCodes = std::to_array<std::string_view>(
    {"target", "image-in-use", "abandoned", "close-failed", "rate-below-one-block", "fio-messages",
     "fio-stages", "fio-start-spread", "fio-unified", "fio-range", "fio-merged", "files-not-kept"});

constexpr auto kCodes = [] {
  std::array<std::string_view, kRules.size() + kRunnerCodes.size()> codes{};
  for (size_t i = 0; i < kRules.size(); ++i) codes[i] = kRules[i].code;
  for (size_t i = 0; i < kRunnerCodes.size(); ++i) codes[kRules.size() + i] = kRunnerCodes[i];
  return codes;
}();

}  // namespace

std::vector<Taint> advice_for(const RunResult& result) {
  const RunFigures figures = figures_of(result);
  std::vector<Taint> taints;
  for (const auto& rule : kRules)
    if (std::string text = rule.text(result, figures); !text.empty())
      taints.push_back({std::string(rule.code), std::move(text)});
  return taints;
}

void add_advice(RunResult& result) {
  std::set<std::string> told;
  for (const auto& taint : result.taints) told.insert(taint.code);
  for (auto& taint : advice_for(result))
    if (!told.count(taint.code)) result.taints.push_back(std::move(taint));
}

std::span<const std::string_view> advice_codes() {
  return kCodes;
}

std::span<const std::string_view> advice_rule_codes() {
  return std::span<const std::string_view>(kCodes).first(kRules.size());
}

}  // namespace cephmark
