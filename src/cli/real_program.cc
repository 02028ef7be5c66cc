#include "cli/real_program.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/error.h"

namespace cephmark {
namespace {

/// Set for the program that takes over: another copy of this one must not hand it back.
constexpr const char* kHandedOver = "CEPHMARK_HANDED_OVER";

}  // namespace

std::string real_program(const std::string& name) {
  struct stat own {};
  if (::stat("/proc/self/exe", &own) != 0) return "";
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "/usr/bin:/bin";
  while (true) {
    const auto colon = rest.find(':');
    const std::string_view directory = rest.substr(0, colon);
    std::string file =
        fmt::format("{}/{}", directory.empty() ? std::string_view(".") : directory, name);
    struct stat facts {};
    if (::stat(file.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
        ::access(file.c_str(), X_OK) == 0 &&
        (facts.st_dev != own.st_dev || facts.st_ino != own.st_ino))
      return file;
    if (colon == std::string_view::npos) return "";
    rest.remove_prefix(colon + 1);
  }
}

void become_real_program(const std::string& name, const std::vector<std::string>& argv,
                         const std::string& ours) {
  const char* handed_over = std::getenv(kHandedOver);
  if (handed_over && handed_over == name)
    throw Error(fmt::format("the {} on PATH is cephmark, too, and {}", name, ours),
                fmt::format("put the real {} before it on PATH", name));
  const std::string program = real_program(name);
  if (program.empty())
    throw Error(fmt::format("{}, and there is no other {} on PATH", ours, name),
                fmt::format("install {} for everything else", name));
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  std::fflush(nullptr);
  ::setenv(kHandedOver, name.c_str(), 1);
  ::execv(program.c_str(), words.data());
  throw Error(fmt::format("cannot start {}: {}", program, errno_text(errno)));
}

}  // namespace cephmark
