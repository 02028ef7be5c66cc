#include "job/job_text.h"

#include <algorithm>

namespace cephmark {
namespace {

using Options = std::vector<std::pair<std::string, std::string>>;

void write_options(std::string& text, const Options& options) {
  for (const auto& [name, value] : options)
    text += value.empty() ? name + "\n" : name + "=" + value + "\n";
}

}  // namespace

std::string job_file_text(const VmPlan& vm) {
  if (!vm.job_text.empty()) return vm.job_text;
  std::string text;
  const Options* globals = nullptr;
  for (const auto& job : vm.jobs) {
    // Globals add up from the top of a file downwards: a [global] section is written again when its
    // successor is the old one and more. Otherwise (a second job file starts afresh) they are
    // written into the section.
    const Options none;
    const Options& before = globals ? *globals : none;
    const bool extends = job.written_globals.size() >= before.size() &&
                         std::equal(before.begin(), before.end(), job.written_globals.begin());
    if (extends && job.written_globals.size() > before.size()) {
      text += "[global]\n";
      write_options(text, {job.written_globals.begin() + static_cast<std::ptrdiff_t>(before.size()),
                           job.written_globals.end()});
    }
    text += "[" + job.name + "]\n";
    if (extends)
      globals = &job.written_globals;
    else
      write_options(text, job.written_globals);
    write_options(text, job.written_options);
  }
  return text;
}

}  // namespace cephmark
