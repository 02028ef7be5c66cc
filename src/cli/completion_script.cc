// The completion scripts: one list of candidates per command, written in three shells' languages.
#include <fmt/format.h>

#include <functional>

#include "base/error.h"
#include "cli/command_reference.h"
#include "cli/shell_word.h"

namespace cephmark {
namespace {

std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

bool takes_file(const OptionReference& option) {
  for (const char* word : {"FILE", "PATH", "DIR"})
    if (option.value.find(word) != std::string::npos) return true;
  for (const std::string& name : option.names)
    for (const char* word : {"FILE", "--conf", "--keyring", "--dir", "--fio"})
      if (name == word || (option.positional && name.find("FILE") != std::string::npos))
        return true;
  return false;
}

std::string join(const std::vector<std::string>& words, const char* between) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : between) + word;
  return out;
}

/// Calls `told` for each command with its words before the options: "lab osd stop".
void walk(const std::vector<CommandReference>& commands, const std::string& above,
          const std::function<void(const CommandReference&, const std::string& path)>& told) {
  for (const CommandReference& command : commands) {
    const std::string path = above.empty() ? command.name : above + " " + command.name;
    told(command, path);
    walk(command.subcommands, path, told);
  }
}

std::vector<std::string> option_names(const CommandReference& command) {
  std::vector<std::string> names;
  for (const OptionReference& option : command.options)
    if (!option.positional) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::vector<std::string> names_of(const std::vector<CommandReference>& commands) {
  std::vector<std::string> names;
  for (const CommandReference& command : commands) names.push_back(command.name);
  return names;
}

// A case of the shell per option that takes a value: what may stand behind it.
std::string value_cases(const CommandReference& command, const std::string& path,
                        const char* choices, const char* files, const char* nothing) {
  std::string out;
  for (const OptionReference& option : command.options) {
    if (option.positional || option.value.empty()) continue;
    std::vector<std::string> patterns;
    for (const std::string& name : option.names)
      patterns.push_back(shell_quoted(path + "|" + name));
    std::string action = nothing;
    if (!option.choices.empty())
      action = fmt::format(fmt::runtime(choices), join(option.choices, " "));
    else if (takes_file(option))
      action = files;
    out += fmt::format("    {}) {} ;;\n", join(patterns, "|"), action);
  }
  return out;
}

// The command under the cursor: as many of the words before it as name commands.
constexpr const char* kFindPath = R"(  local path= word
  for word in "${{{words}[@]:1:{before}}}"; do
    case "$path $word" in
{known}      *) ;;
    esac
  done
)";

std::string known_paths(const std::vector<CommandReference>& all) {
  std::string out;
  walk(all, "", [&](const CommandReference& command, const std::string& path) {
    const size_t cut = path.size() - command.name.size();
    const std::string above = cut ? path.substr(0, cut - 1) : "";
    out += fmt::format("      {}) path={} ;;\n", shell_quoted(above + " " + command.name),
                       shell_quoted(path));
  });
  return out;
}

std::string bash(const std::vector<CommandReference>& all) {
  std::string out =
      "# bash completion of cephmark: source it, or keep it as\n"
      "# ~/.local/share/bash-completion/completions/cephmark\n"
      "_cephmark() {\n"
      "  local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\"\n";
  out += fmt::format(fmt::runtime(kFindPath), fmt::arg("words", "COMP_WORDS"),
                     fmt::arg("before", "COMP_CWORD-1"), fmt::arg("known", known_paths(all)));
  out += "  case \"$path|$previous\" in\n";
  walk(all, "", [&](const CommandReference& command, const std::string& path) {
    out += value_cases(command, path, "COMPREPLY=($(compgen -W '{}' -- \"$current\")); return",
                       "COMPREPLY=($(compgen -f -- \"$current\")); return", "return");
  });
  out += "  esac\n  local candidates=\n  case \"$path\" in\n";
  out += fmt::format("    '') candidates={} ;;\n", shell_quoted(join(names_of(all), " ")));
  walk(all, "", [&](const CommandReference& command, const std::string& path) {
    std::vector<std::string> words = names_of(command.subcommands);
    const auto options = option_names(command);
    words.insert(words.end(), options.begin(), options.end());
    out += fmt::format("    {}) candidates={} ;;\n", shell_quoted(path),
                       shell_quoted(join(words, " ")));
  });
  return out +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$candidates\" -- \"$current\"))\n"
         "  [[ $current == -* || -z $path ]] || COMPREPLY+=($(compgen -f -- \"$current\"))\n"
         "}\n"
         "complete -o filenames -F _cephmark cephmark\n";
}

// "name:what it is", as _describe takes it.
std::string described(const std::string& name, const std::string& help) {
  std::string safe;
  for (const char c : name) safe += c == ':' ? std::string("\\:") : std::string(1, c);
  return shell_quoted(safe + ":" + one_line(help));
}

std::string zsh(const std::vector<CommandReference>& all) {
  std::string out =
      "#compdef cephmark\n"
      "# zsh completion of cephmark: keep it as _cephmark in a folder of $fpath.\n"
      "_cephmark() {\n"
      "  local previous=\"${words[CURRENT-1]}\"\n"
      "  local -a candidates\n";
  out += fmt::format(fmt::runtime(kFindPath), fmt::arg("words", "words"),
                     fmt::arg("before", "CURRENT-2"), fmt::arg("known", known_paths(all)));
  out += "  case \"$path|$previous\" in\n";
  walk(all, "", [&](const CommandReference& command, const std::string& path) {
    out += value_cases(command, path, "compadd -- {}; return", "_files; return",
                       "_message value; return");
  });
  out += "  esac\n  case \"$path\" in\n    '') candidates=(";
  for (const CommandReference& command : all)
    out += "\n      " + described(command.name, command.summary);
  out += ") ;;\n";
  walk(all, "", [&](const CommandReference& command, const std::string& path) {
    out += fmt::format("    {}) candidates=(", shell_quoted(path));
    for (const CommandReference& sub : command.subcommands)
      out += "\n      " + described(sub.name, sub.summary);
    for (const OptionReference& option : command.options)
      for (const std::string& name : option.names)
        if (!option.positional) out += "\n      " + described(name, option.help);
    out += ") ;;\n";
  });
  return out +
         "  esac\n"
         "  _describe 'cephmark' candidates\n"
         "  [[ -z $path || $PREFIX == -* ]] || _files\n"
         "}\n"
         "compdef _cephmark cephmark\n";
}

std::string fish(const std::vector<CommandReference>& all) {
  std::string out =
      "# fish completion of cephmark: keep it as ~/.config/fish/completions/cephmark.fish\n"
      "function __cephmark_at\n"
      "    set -l words (commandline -opc | string match -v -- '-*')\n"
      "    set -l wanted cephmark $argv\n"
      "    test \"$words[1..(count $wanted)]\" = \"$wanted\"\n"
      "end\n";
  const auto add = [&](const std::string& condition, const std::string& what,
                       const std::string& help) {
    out += fmt::format("complete -c cephmark -n {} {} -d {}\n", shell_quoted(condition), what,
                       shell_quoted(one_line(help)));
  };
  for (const CommandReference& command : all)
    add("__fish_use_subcommand", "-f -a " + command.name, command.summary);
  walk(all, "", [&](const CommandReference& command, const std::string& path) {
    const std::string here = "__cephmark_at " + path;
    for (const CommandReference& sub : command.subcommands)
      add(here, "-a " + sub.name, sub.summary);
    for (const OptionReference& option : command.options) {
      if (option.positional) continue;
      std::string words;
      for (const std::string& name : option.names)
        words += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!option.choices.empty())
        words += " -x -a " + shell_quoted(join(option.choices, " "));
      else if (!option.value.empty())
        words += takes_file(option) ? " -r" : " -x";
      add(here, words.substr(1), option.help);
    }
  });
  return out;
}

}  // namespace

std::string completion_script(const std::string& shell) {
  const std::vector<CommandReference> all = command_reference();
  if (shell == "bash") return bash(all);
  if (shell == "zsh") return zsh(all);
  if (shell == "fish") return fish(all);
  throw UsageError(fmt::format("there is no completion for '{}'", shell), "bash, zsh or fish");
}

}  // namespace cephmark
