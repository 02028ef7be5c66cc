#include "cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/spelling.h"

namespace cephmark {
namespace {

std::vector<const CLI::App*> subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

void collect_option_names(const CLI::App& app, std::vector<std::string>& names) {
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  for (const CLI::App* sub : subcommands(app)) collect_option_names(*sub, names);
}

// "there is no command 'cephmark lab upp'", and which one may be meant. Empty when it is known.
std::string unknown_subcommand(const CLI::App& app, const std::vector<std::string>& argv,
                               std::string& hint) {
  std::vector<std::string> names;
  for (const CLI::App* sub : subcommands(app)) names.push_back(sub->get_name());
  if (!names.empty() && argv.size() < 2) {
    hint = fmt::format("{} --help tells what each does", app.get_name());
    return fmt::format("{} does one of these: {}", app.get_name(), fmt::join(names, ", "));
  }
  if (names.empty() || argv.size() < 2 || argv[1].starts_with('-') ||
      std::find(names.begin(), names.end(), argv[1]) != names.end())
    return "";
  if (const std::string near = closest(argv[1], names); !near.empty())
    hint = fmt::format("did you mean '{} {}'?", app.get_name(), near);
  return fmt::format("there is no command '{} {}'", app.get_name(), argv[1]);
}

// "there is no option '--runtme'", and which one may be meant. Empty when all options are known.
std::string unknown_option(const CLI::App& app, const std::vector<std::string>& argv,
                           std::string& hint) {
  std::vector<std::string> names;
  collect_option_names(app, names);
  for (size_t i = 1; i < argv.size() && argv[i] != "--"; ++i) {
    const std::string word = argv[i].substr(0, argv[i].find('='));
    if (!word.starts_with("--") || std::find(names.begin(), names.end(), word) != names.end())
      continue;
    const std::string near = closest(word, names);
    if (!near.empty()) hint = fmt::format("did you mean {}?", near);
    return fmt::format("there is no option '{}'", word);
  }
  return "";
}

std::function<void(const CLI::App&)> help_reader;

}  // namespace

HelpReader::HelpReader(std::function<void(const CLI::App& app)> read) {
  help_reader = std::move(read);
}

HelpReader::~HelpReader() {
  help_reader = nullptr;
}

bool describe_to_reader(const CLI::App& app) {
  if (help_reader) help_reader(app);
  return static_cast<bool>(help_reader);
}

void describe_option(CLI::App& app, std::string_view name, std::string_view value,
                     std::string_view help, const std::string& group) {
  const std::string dashed = fmt::format("--{}", name);
  CLI::Option* option = value.empty() ? app.add_flag(dashed) : app.add_option(dashed);
  option->description(std::string(help));
  if (!value.empty()) option->type_name(std::string(value))->expected(1);
  option->group(group);
}

bool parse_command_line(CLI::App& app, const std::vector<std::string>& argv) {
  std::vector<std::string> reversed(argv.rbegin(), argv.rend() - (argv.empty() ? 0 : 1));
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    if (help_reader)
      help_reader(app);
    else
      std::fputs(app.help().c_str(), stdout);
    return false;
  } catch (const CLI::ParseError& error) {
    std::string hint = app.get_name() + " --help tells the options";
    std::string unknown = unknown_subcommand(app, argv, hint);
    if (unknown.empty()) unknown = unknown_option(app, argv, hint);
    throw UsageError(unknown.empty() ? error.what() : unknown, hint);
  }
  return true;
}

}  // namespace cephmark
