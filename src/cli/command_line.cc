#include "cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
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
  const CLI::App* command = &app;
  std::string said = app.get_name();  // "cephmark lab osd": as far as the words are known
  for (size_t i = 1;; ++i) {
    std::vector<std::string> names;
    for (const CLI::App* sub : subcommands(*command)) names.push_back(sub->get_name());
    if (names.empty()) return "";
    if (i >= argv.size()) {
      hint = fmt::format("{} --help tells what each does", said);
      return fmt::format("{} does one of these: {}", said, fmt::join(names, ", "));
    }
    if (argv[i].starts_with('-')) return "";
    if (std::find(names.begin(), names.end(), argv[i]) == names.end()) {
      if (const std::string near = closest(argv[i], names); !near.empty())
        hint = fmt::format("did you mean '{} {}'?", said, near);
      return fmt::format("there is no command '{} {}'", said, argv[i]);
    }
    command = command->get_subcommand(argv[i]);
    said += " " + argv[i];
  }
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

// "Could not convert: --seed = abc" of CLI11 reads like a fault of ours.
std::string in_our_words(const CLI::ParseError& error) {
  const std::string text = error.what();
  constexpr std::string_view kStart = "Could not convert: ";
  const size_t equals = text.find(" = ");
  if (!text.starts_with(kStart) || equals == std::string::npos) return text;
  return fmt::format("{}: '{}' is not a number that it takes",
                     text.substr(kStart.size(), equals - kStart.size()), text.substr(equals + 3));
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

CLI::Validator whole_number(int64_t least, int64_t most) {
  return {[=](const std::string& text) -> std::string {
            int64_t number = 0;
            const auto [end, error] =
                std::from_chars(text.data(), text.data() + text.size(), number);
            if (error == std::errc() && end == text.data() + text.size() && number >= least &&
                number <= most)
              return "";
            return most == INT32_MAX
                       ? fmt::format("'{}' is not a whole number of {} or more", text, least)
                       : fmt::format("'{}' is not a whole number from {} to {}", text, least, most);
          },
          ""};
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
    throw UsageError(unknown.empty() ? in_our_words(error) : unknown, hint);
  }
  return true;
}

}  // namespace cephmark
