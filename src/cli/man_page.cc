// cephmark(1), made of what the commands' --help says.
#include <fmt/format.h>

#include "base/version.h"
#include "cli/command_reference.h"
#include "cli/link_table.h"

namespace cephmark {
namespace {

// Text as man takes it: nothing in it is a command or a hyphenation.
std::string plain(const std::string& text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    line_begins = c == '\n';
  }
  return out;
}

std::string names_text(const OptionReference& option) {
  std::string out;
  for (const std::string& name : option.names)
    out += (out.empty() ? "\\fB" : ", \\fB") + plain(name) + "\\fR";
  if (!option.value.empty() && !option.positional) out += " \\fI" + plain(option.value) + "\\fR";
  return out;
}

std::string trimmed(const std::string& text) {
  const size_t from = text.find_first_not_of('\n'), to = text.find_last_not_of('\n');
  return from == std::string::npos ? "" : text.substr(from, to - from + 1);
}

void tell(const CommandReference& command, const std::string& above, std::string& out) {
  const std::string path = above + " " + command.name;
  out += fmt::format(".SS {}\n{}\n", plain(path),
                     plain(command.description.empty() ? command.summary : command.description));
  std::string group;
  for (const OptionReference& option : command.options) {
    if (option.group != group && option.group != "Options" && !option.positional)
      out += fmt::format(".PP\n{}:\n", plain(option.group));
    group = option.group;
    out += fmt::format(".TP\n{}\n{}\n", names_text(option), plain(option.help));
    if (!option.choices.empty()) {
      out += "One of";
      for (const std::string& choice : option.choices) out += " " + plain(choice);
      out += ".\n";
    }
  }
  if (!command.footer.empty())
    out += fmt::format(".PP\n.nf\n{}\n.fi\n", plain(trimmed(command.footer)));
  for (const CommandReference& sub : command.subcommands) tell(sub, path, out);
}

}  // namespace

std::string man_page() {
  const std::vector<CommandReference> all = command_reference();
  std::string out = fmt::format(
      ".TH CEPHMARK 1 \"\" \"cephmark {}\" \"cephmark\"\n"
      ".SH NAME\ncephmark \\- measures Ceph storage the way its users meet it\n"
      ".SH SYNOPSIS\n.B cephmark\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n"
      ".SH COMMANDS\n",
      kVersion);
  for (const CommandReference& command : all)
    out += fmt::format(".TP\n.B {}\n{}\n", plain(command.name), plain(command.summary));
  out += ".SH OPTIONS OF THE COMMANDS\n";
  for (const CommandReference& command : all) tell(command, "cephmark", out);
  out +=
      ".SH OTHER NAMES\nA link to the program with one of these names stands in for another "
      "program:\n";
  for (const LinkRow& row : link_table())
    out += fmt::format(".TP\n.B {}\n{}\n", plain(std::string(row.name)),
                       plain(std::string(row.summary)));
  return out +
         ".SH EXIT STATUS\n0 well; 1 I/O errors or failed verification; 2 a mistake in the command "
         "line or the job file; 3 the environment (no cluster, no permission, no space, stopped by "
         "a guard); 130, 143, 129 interrupted by SIGINT, SIGTERM, SIGHUP.\n"
         ".SH ENVIRONMENT\nCEPH_CONF and CEPH_ARGS as with Ceph's own tools; XDG_DATA_HOME: where "
         "results are kept; XDG_STATE_HOME: where manifests and the lab are.\n";
}

}  // namespace cephmark
