#include "job/section_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/spelling.h"
#include "job/known_options.h"
#include "job/option_setters.h"

namespace cephmark {

namespace {

constexpr size_t kMaxSuggestedName = 64;  ///< longer words are no misspellings
constexpr size_t kMaxSuggestions = 20;

const EngineOption* find_engine_option(const EngineDescription* engine, std::string_view name) {
  if (!engine || name.empty()) return nullptr;
  for (const EngineOption& option : engine->options)
    if (option.name == name || option.alias == name) return &option;
  return nullptr;
}

std::string dashed(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string join(const std::vector<std::string_view>& words) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i)
    out += std::string(i == 0                  ? ""
                       : i + 1 == words.size() ? " and "
                                               : ", ") +
           std::string(words[i]);
  return out;
}

bool is_early(const JobOption& option) {
  return option.core && (option.name == "ioengine" || option.name == "kb_base");
}

bool is_text(const JobOption& option) {
  if (option.engine_option) return option.engine_option->kind == EngineOption::Kind::kText;
  return option.name == "description" || option.name == "name" || option.name == "filename" ||
         option.name == "directory";
}

bool is_flag(const JobOption& option) {
  return option.core ? option.core->kind == CoreOption::Kind::kFlag
                     : option.engine_option->kind == EngineOption::Kind::kFlag;
}

/// Later options of the same name replace earlier ones and take the later place.
void add_option(std::vector<JobOption>& options, JobOption option) {
  std::erase_if(options, [&](const JobOption& other) { return other.name == option.name; });
  options.push_back(std::move(option));
}

void add_written(std::vector<std::pair<std::string, std::string>>& written, const std::string& name,
                 const std::string& value) {
  std::erase_if(written, [&](const auto& other) { return other.first == name; });
  written.emplace_back(name, value);
}

}  // namespace

const EngineDescription* SectionBuilder::find_engine(std::string_view name) const {
  for (const EngineDescription& engine : engines_)
    if (engine.name == name) return &engine;
  return nullptr;
}

std::string SectionBuilder::chosen_engine(const std::vector<RawOption>& options,
                                          const std::string& otherwise) const {
  for (auto option = options.rbegin(); option != options.rend(); ++option)
    if (option->name == "ioengine") return option->value;
  return otherwise;
}

const EngineDescription* SectionBuilder::resolve_engine(const JobSection& section) const {
  const std::string name =
      chosen_engine(section.own.options, chosen_engine(section.globals, "psync"));
  if (const EngineDescription* engine = find_engine(name)) return engine;
  SourcePosition where = section.own.where;
  for (const auto* list : {&section.globals, &section.own.options})
    for (const RawOption& option : *list)
      if (option.name == "ioengine") where = option.value_where;
  std::vector<std::string_view> ours;
  std::vector<std::string> names;
  for (const EngineDescription& engine : engines_) {
    ours.push_back(engine.name);
    names.emplace_back(engine.name);
  }
  const std::string list = fmt::format("cephmark's engines are {}", join(ours));
  const std::string trimmed = name.substr(std::min(name.find_first_not_of(" \t"), name.size()));
  if (is_known_engine(name)) {
    diagnostics_.error(
        where, fmt::format("ioengine: fio knows the engine {}, cephmark does not have it", name),
        list);
  } else if (trimmed != name && find_engine(trimmed)) {
    diagnostics_.error(
        where,
        fmt::format("ioengine: \"{}\" begins with a blank, which is part of the value in fio",
                    name),
        fmt::format("write ioengine={}", trimmed));
  } else {
    const std::string meant = name.size() > kMaxSuggestedName ? "" : closest(name, names);
    diagnostics_.error(where, fmt::format("ioengine: there is no engine \"{}\"", name),
                       meant.empty() ? list : fmt::format("did you mean {}? {}", meant, list));
  }
  return nullptr;
}

/// True: the option is of no use to any job here, and that was said.
bool SectionBuilder::resolve_unusable(const RawOption& raw, const SourcePosition& where) const {
  if (const KnownOption* known = find_known_core(raw.name)) {
    if (raw.has_value && !raw.value.empty() &&
        (raw.value == known->neutral || raw.value == known->neutral_too))
      return true;
    const std::string message =
        fmt::format("fio knows '{}', cephmark does not honour it yet", known->name);
    if (options_.allow_unsupported)
      diagnostics_.warn(where, message, "the job runs without it");
    else
      diagnostics_.error(where, message,
                         "remove it, or run with --allow-unsupported to go on without it");
    return true;
  }
  if (engines_that_know(raw.name).empty() && is_command_line_only(raw.name)) {
    diagnostics_.error(
        where, fmt::format("'{}' is an option of the command line, not of a job file", raw.name),
        fmt::format(
            "`cephmark fio` takes it there as --{}, as fio does; `cephmark run --help` shows "
            "what `run` takes",
            dashed(raw.name)));
    return true;
  }
  return false;
}

void SectionBuilder::report_engine_option(const RawOption& raw, const JobSection& section,
                                          bool from_global) const {
  std::vector<std::string_view> ours;
  for (const EngineDescription& engine : engines_)
    if (find_engine_option(&engine, raw.name)) ours.push_back(engine.name);
  const auto fios = engines_that_know(raw.name);
  const std::string_view used = section.engine->name;
  const std::string job = from_global ? fmt::format("the job \"{}\" ({})", section.own.name,
                                                    section.own.where.line_text())
                                      : std::string("this job");
  if (std::find(fios.begin(), fios.end(), used) != fios.end()) {
    const std::string message =
        fmt::format("fio's engine {} knows '{}', cephmark does not honour it yet", used, raw.name);
    if (options_.allow_unsupported)
      diagnostics_.warn(raw.where, message, "the job runs without it");
    else
      diagnostics_.error(raw.where, message,
                         "remove it, or run with --allow-unsupported to go on without it");
  } else if (!ours.empty()) {
    diagnostics_.error(
        raw.where,
        fmt::format("'{}' belongs to the engine {}; {} uses {}", raw.name, join(ours), job, used),
        fmt::format("set ioengine={} in the job or in a [global] above it", ours.front()));
  } else {
    diagnostics_.error(
        raw.where,
        fmt::format("'{}' belongs to fio's engine {}, which cephmark does not have; {} uses {}",
                    raw.name, join(fios), job, used));
  }
}

void SectionBuilder::report_unknown(const RawOption& raw, const EngineDescription* engine) const {
  std::string meant;
  // Names much longer or shorter are never near; a file with hundreds of mistakes needs no more
  // suggestions.
  if (raw.name.size() <= kMaxSuggestedName && diagnostics_.error_count() < kMaxSuggestions) {
    std::vector<std::string> names;
    const auto add = [&](std::string_view name) {
      const size_t longer = std::max(name.size(), raw.name.size());
      const size_t shorter = std::min(name.size(), raw.name.size());
      if (shorter > 0 && longer - shorter <= longer / 3 + 1) names.emplace_back(name);
    };
    for (const CoreOption& option : core_options()) add(option.name), add(option.alias);
    if (engine)
      for (const EngineOption& option : engine->options) add(option.name), add(option.alias);
    else
      for (const EngineDescription& other : engines_)
        for (const EngineOption& option : other.options) add(option.name), add(option.alias);
    for (const KnownOption& option : known_options())
      if (option.engine.empty()) add(option.name), add(option.alias);
    meant = closest(raw.name, names);
  }
  diagnostics_.error(raw.where, fmt::format("there is no option '{}'", raw.name),
                     meant.empty() ? "docs/job-file.md lists the options"
                                   : fmt::format("did you mean {}?", meant));
}

bool SectionBuilder::resolve(const RawOption& raw, const JobSection& section,
                             const EngineDescription* global_engine, bool from_global,
                             JobOption& out) const {
  out.raw = raw;
  out.from_global = from_global;
  out.core = find_core_option(raw.name);
  if (!out.core) out.engine_option = find_engine_option(section.engine, raw.name);
  if (out.core || out.engine_option) {
    out.name = out.core ? out.core->name : out.engine_option->name;
    return true;
  }
  if (from_global && find_engine_option(global_engine, raw.name))
    return false;  // this job left that engine
  if (resolve_unusable(raw, raw.where)) return false;
  bool known = !engines_that_know(raw.name).empty();
  for (const EngineDescription& engine : engines_)
    known |= find_engine_option(&engine, raw.name) != nullptr;
  if (!section.engine && known)
    return false;  // an unknown engine was reported, and it may be one that has this option
  if (known)
    report_engine_option(raw, section, from_global);
  else if (!from_global)
    report_unknown(raw, section.engine);
  return false;
}

void SectionBuilder::check_global(const RawSection& section) const {
  for (const RawOption& raw : section.options) {
    if (find_core_option(raw.name) || resolve_unusable(raw, raw.where)) continue;
    bool known = !engines_that_know(raw.name).empty();
    for (const EngineDescription& engine : engines_)
      known |= find_engine_option(&engine, raw.name) != nullptr;
    if (!known) report_unknown(raw, nullptr);
  }
}

void SectionBuilder::build(JobSection& section) const {
  section.engine = resolve_engine(section);
  const EngineDescription* global_engine = find_engine(chosen_engine(section.globals, ""));
  std::vector<JobOption> early, others;
  const auto add_all = [&](const std::vector<RawOption>& list, bool from_global,
                           std::vector<std::pair<std::string, std::string>>& written) {
    for (const RawOption& raw : list) {
      JobOption option;
      const bool usable = resolve(raw, section, global_engine, from_global, option);
      const KnownOption* known = usable ? nullptr : find_known_core(raw.name);
      if (usable || known)
        add_written(written, usable ? option.name : std::string(known->name), raw.value);
      if (!usable) continue;
      auto& target = is_early(option) ? early : others;
      add_option(target, std::move(option));
    }
  };
  add_all(section.globals, true, section.written_globals);
  add_all(section.own.options, false, section.written_options);
  section.draft.spec.name = section.own.name;
  section.draft.spec.source = section.own.where.line_text();
  section.options = std::move(early);
  std::move(others.begin(), others.end(), std::back_inserter(section.options));
  for (const JobOption& option : section.options)
    if (!has_template(option.raw.value)) apply(option, option.raw.value, section.draft);
}

JobDraft SectionBuilder::finish(const JobSection& section, const TemplateValues& values) const {
  JobDraft draft = section.draft;
  const auto fill = [&](const std::string& text, const SourcePosition& where) {
    TemplateResult result = substitute_template(text, values);
    if (!result.problem.empty()) diagnostics_.error(where, result.problem, result.hint);
    return result;
  };
  if (has_template(section.own.name))
    draft.spec.name = fill(section.own.name, section.own.where).text;
  for (const JobOption& option : section.options) {
    if (!has_template(option.raw.value)) continue;
    const TemplateResult result = fill(option.raw.value, option.raw.value_where);
    if (result.problem.empty()) apply(option, result.text, draft);
  }
  const auto fill_written = [&](const auto& from, auto& to) {
    to = from;
    for (auto& [name, value] : to)
      if (has_template(value)) value = substitute_template(value, values).text;
  };
  fill_written(section.written_options, draft.spec.written_options);
  fill_written(section.written_globals, draft.spec.written_globals);
  add_engine_defaults(section, draft);
  finish_job(draft, section, options_, diagnostics_);
  return draft;
}

void SectionBuilder::apply(const JobOption& option, std::string_view text, JobDraft& draft) const {
  const OptionInput input{
      option.name, text, option.raw.has_value, option.raw.where, option.raw.value_where,
      diagnostics_};
  const bool blank = text.find_first_not_of(" \t") == std::string_view::npos;
  if ((!option.raw.has_value && !is_flag(option)) || (option.raw.has_value && blank)) {
    diagnostics_.error(option.raw.where, fmt::format("the option '{}' needs a value", option.name),
                       fmt::format("write {}=VALUE", option.name));
    return;
  }
  if (option.raw.cut_by || (option.raw.has_comment && option.name == "description"))
    input.warn(
        fmt::format("what follows '#' or ';' is a comment, quotes or not: the value is \"{}\"",
                    text),
        "as in fio; there is no way to write these characters in a value");
  if (is_text(option) && option.name != "filename" && option.name != "directory" &&
      (text[0] == ' ' || text[0] == '\t'))
    input.warn(fmt::format("\"{}\" begins with a blank, which is part of the value in fio", text),
               "write no blanks around '='");
  if (option.core)
    option.core->apply(draft, input);
  else
    apply_engine_option(*option.engine_option, input, draft);
}

void SectionBuilder::apply_engine_option(const EngineOption& row, const OptionInput& input,
                                         JobDraft& draft) const {
  using Kind = EngineOption::Kind;
  std::string value(input.text);
  switch (row.kind) {
    case Kind::kText:
      if (value.find_first_of("\"'") != std::string::npos)
        input.warn("quotes are part of the value, as in fio", "leave them out");
      break;
    case Kind::kChoice:
      if (!setters::check_choice(input, input.text, row.choices)) return;
      break;
    case Kind::kBool:
    case Kind::kFlag: {
      const auto set = input.has_value ? read_bool(input.text) : std::optional<unsigned long>(1);
      if (!set || *set > 1) {
        input.error(fmt::format("\"{}\" is not 0 or 1", input.text), "fio's booleans are 0 and 1");
        return;
      }
      value = *set ? "1" : "0";
      break;
    }
    case Kind::kInteger:
    case Kind::kSize: {
      const bool negative_allowed = row.min < 0 && row.min != INT64_MIN;
      NumberReading reading =
          read_number(input.text, NumberKind::kBytes);  // engines' own options: always 1024
      if (!negative_allowed || !reading.ok() || reading.value >= 0) {
        const auto checked = input.number(input.text, NumberKind::kBytes, 1024);
        if (!checked) return;
        reading = *checked;
      }
      if (reading.percent || reading.value < row.min || reading.value > row.max) {
        input.error(row.max == INT64_MAX
                        ? fmt::format("\"{}\" is out of range (from {})", input.text,
                                      std::max<int64_t>(row.min, 0))
                        : fmt::format("\"{}\" is out of range ({} to {})", input.text,
                                      negative_allowed ? row.min : std::max<int64_t>(row.min, 0),
                                      row.max));
        return;
      }
      value = std::to_string(reading.value);
      break;
    }
    case Kind::kTime:
    case Kind::kList:
      CEPHMARK_CHECK(false, "engines have no options of this kind");
  }
  draft.spec.engine_options[std::string(row.name)] = value;
}

void SectionBuilder::add_engine_defaults(const JobSection& section, JobDraft& draft) const {
  if (!section.engine) return;
  for (const EngineOption& row : section.engine->options) {
    const std::string name(row.name);
    if (draft.spec.engine_options.count(name)) continue;
    if (!row.default_value.empty()) draft.spec.engine_options[name] = row.default_value;
    const bool written = std::any_of(section.options.begin(), section.options.end(),
                                     [&](const JobOption& option) { return option.name == name; });
    if (row.required && row.default_value.empty() && !written)
      diagnostics_.error(section.own.where,
                         fmt::format("the job \"{}\" needs {}=: the engine {} requires it",
                                     section.own.name, name, section.engine->name),
                         std::string(row.help));
  }
}

}  // namespace cephmark
