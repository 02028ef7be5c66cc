#include "cli/command_reference.h"

#include <CLI/CLI.hpp>

#include "cli/command_line.h"
#include "cli/command_table.h"
#include "output/writer.h"

namespace cephmark {
namespace {

// "TEXT:{native,fio}" -> the value's name, and the words that may stand there.
void read_type(std::string type, OptionReference& option) {
  const size_t open = type.find('{'), close = type.find('}');
  if (open != std::string::npos && close != std::string::npos && close > open) {
    std::string list = type.substr(open + 1, close - open - 1) + ",";
    for (size_t from = 0, comma; (comma = list.find(',', from)) != std::string::npos;
         from = comma + 1)
      option.choices.push_back(list.substr(from, comma - from));
  }
  type = type.substr(0, type.find(':'));
  option.value = type.empty() ? "VALUE" : type;
}

OptionReference describe(const CLI::Option& given) {
  OptionReference option;
  option.positional = given.nonpositional() ? false : given.get_positional();
  for (const std::string& name : given.get_snames()) option.names.push_back("-" + name);
  for (const std::string& name : given.get_lnames()) option.names.push_back("--" + name);
  if (option.positional) option.names.push_back(given.get_name(true));
  if (given.get_items_expected_max() > 0) read_type(given.get_type_name(), option);
  option.help = given.get_description();
  option.group = given.get_group();
  for (const std::string& name : option.names)
    if (name == "--output" && option.choices.empty())
      for (const WriterRow& row : writer_table()) option.choices.emplace_back(row.name);
  return option;
}

CommandReference describe(const CLI::App& app, std::string name, std::string summary) {
  CommandReference command;
  command.name = std::move(name);
  command.summary = std::move(summary);
  command.description = app.get_description();
  command.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) command.options.push_back(describe(*option));
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    command.subcommands.push_back(describe(*sub, sub->get_name(), sub->get_description()));
  return command;
}

}  // namespace

std::vector<CommandReference> command_reference() {
  std::vector<CommandReference> all;
  for (const CommandRow& row : command_table()) {
    // The command builds its options and comes to its --help, which is answered here.
    const HelpReader reader([&](const CLI::App& app) {
      all.push_back(describe(app, std::string(row.name), std::string(row.summary)));
    });
    row.run({std::string(row.name), "--help"});
  }
  return all;
}

}  // namespace cephmark
