#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <iostream>
#include <vector>

#include "base/error.h"
#include "base/spelling.h"
#include "base/version.h"
#include "cli/command_table.h"
#include "cli/link_table.h"

namespace cephmark {
namespace {

void print_help() {
  std::string text = fmt::format(
      "cephmark {}: measures Ceph storage the way its users meet it\n\n"
      "Usage: cephmark COMMAND [OPTIONS]      (cephmark COMMAND --help tells more)\n\n",
      kVersion);
  for (const auto& row : command_table())
    text += fmt::format("  {:<12} {}\n", row.name, row.summary);
  text += "\nA link to this program with one of these names stands in for another one:\n";
  for (const auto& row : link_table()) text += fmt::format("  {:<12} {}\n", row.name, row.summary);
  text +=
      "\nExamples:\n"
      "  cephmark lab up                                  a small real cluster on this machine\n"
      "  cephmark run examples/write-4k.fio --vms 4 --create 1G --remove --lab\n";
  std::fputs(text.c_str(), stdout);
}

int dispatch(const std::vector<std::string>& argv) {
  const std::string called = argv[0].substr(argv[0].find_last_of('/') + 1);
  for (const auto& row : link_table())
    if (row.name == called) return row.run(argv);
  if (argv.size() < 2 || argv[1] == "help" || argv[1] == "--help" || argv[1] == "-h") {
    print_help();
    return 0;
  }
  const std::string name = argv[1] == "--version" || argv[1] == "-v" ? "version" : argv[1];
  std::vector<std::string> names;
  for (const auto& row : command_table()) {
    if (row.name == name) return row.run({argv.begin() + 1, argv.end()});
    names.emplace_back(row.name);
  }
  const std::string near = closest(name, names);
  throw UsageError(fmt::format("there is no command '{}'", name),
                   near.empty() ? "cephmark help lists the commands"
                                : fmt::format("did you mean 'cephmark {}'?", near));
}

// fmt::print throws when stderr cannot be written: here nobody would catch that.
int tell_error(const std::string& text, const std::string& hint, ExitCode code) {
  std::fputs(fmt::format("cephmark: {}\n", text).c_str(), stderr);
  if (!hint.empty()) std::fputs(fmt::format("  hint: {}\n", hint).c_str(), stderr);
  return static_cast<int>(code);
}

// What was printed and lost is a failure (a full disk); a reader that has seen enough is none.
int check_standard_out(int code) {
  errno = 0;
  std::cout.flush();
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) || !std::cout;
  pollfd out{STDOUT_FILENO, 0, 0};
  const bool reader_gone = ::poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
  if (code != 0 || !failed || reader_gone) return code;
  return tell_error("cannot write to standard output: " + errno_text(errno ? errno : EIO), "",
                    ExitCode::kEnvironment);
}

// A standard descriptor that the caller closed (`>&-`) would go to the next file that is opened: a
// report or a message would then be written into a target. Such a number is taken by a file on
// which writes fail, so that a closed stdout is still told as an error.
void occupy_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd)
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      static_cast<void>(::open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY));
}

}  // namespace

int cli_main(int argc, char** argv) {
  occupy_standard_descriptors();
  try {
    return check_standard_out(dispatch({argv, argv + argc}));
  } catch (const Error& error) {
    return tell_error(error.what(), error.hint(), error.code());
  } catch (const std::exception& error) {
    return tell_error(fmt::format("unexpected failure: {}", error.what()), "",
                      ExitCode::kEnvironment);
  }
}

}  // namespace cephmark
