#include "compat/option_help.h"

#include <fmt/format.h>

#include <vector>

#include "base/error.h"
#include "base/spelling.h"
#include "job/job_draft.h"
#include "job/known_options.h"

namespace cephmark {
namespace {

const char* kind_text(OptionKind kind) {
  switch (kind) {
    case OptionKind::kText:
      return "text";
    case OptionKind::kInteger:
      return "whole number";
    case OptionKind::kSize:
      return "size (k, m, g, t)";
    case OptionKind::kTime:
      return "time (us, ms, s, m, h, d)";
    case OptionKind::kBool:
      return "0 or 1";
    case OptionKind::kFlag:
      return "flag, alone or 0 or 1";
    case OptionKind::kChoice:
      return "one word of several";
    case OptionKind::kList:
      return "list";
  }
  return "";
}

template <typename Option>
std::string one_option(const Option& option) {
  std::string text = fmt::format("{:>20}: {}\n", option.name, option.help);
  if (!option.alias.empty()) text += fmt::format("{:>20}: {}\n", "alias", option.alias);
  text += fmt::format("{:>20}: {}\n", "type", kind_text(option.kind));
  if (!option.default_value.empty())
    text += fmt::format("{:>20}: {}\n", "default", option.default_value);
  return text;
}

template <typename Options>
std::string all_options(const Options& options) {
  std::string text;
  for (const auto& option : options) text += fmt::format("{:<28} {}\n", option.name, option.help);
  return text;
}

}  // namespace

std::string job_option_help(const std::string& name) {
  if (name.empty() || name == "all") return all_options(core_options());
  if (const CoreOption* option = find_core_option(name)) return one_option(*option);
  if (find_known_core(name))
    return fmt::format("{:>20}: known to fio, not honoured by cephmark yet\n", name);
  std::vector<std::string> names;
  for (const CoreOption& option : core_options()) names.emplace_back(option.name);
  const std::string near = closest(name, names);
  throw UsageError(fmt::format("there is no job option '{}'", name),
                   near.empty() ? "--cmdhelp lists them; --enghelp=ENGINE those of an engine"
                                : fmt::format("did you mean --cmdhelp={}?", near));
}

std::string engine_option_help(const std::string& topic,
                               std::span<const EngineDescription> engines) {
  std::string text;
  if (topic.empty()) {
    for (const auto& engine : engines)
      text += fmt::format("{:<12} {}\n", engine.name, engine.summary);
    return text;
  }
  const std::string name = topic.substr(0, topic.find(','));
  const EngineDescription* engine = nullptr;
  for (const auto& one : engines)
    if (one.name == name) engine = &one;
  if (!engine)
    throw UsageError(fmt::format("there is no engine '{}'", name), "--enghelp lists them");
  if (topic.size() == name.size()) return all_options(engine->options);
  const std::string wanted = topic.substr(name.size() + 1);
  for (const auto& option : engine->options)
    if (option.name == wanted || option.alias == wanted) return one_option(option);
  throw UsageError(fmt::format("the engine {} has no option '{}'", name, wanted),
                   fmt::format("--enghelp={} lists its options", name));
}

}  // namespace cephmark
