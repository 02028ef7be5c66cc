#include "compat/cephtest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "base/error.h"
#include "base/spelling.h"
#include "base/time.h"

namespace cephmark {
namespace {

const std::vector<std::string> kCephtestOptions = {"job-file", "go-jobs", "max-cpus"};

// Splits words into options and values; what is wrong goes to `mistakes`, so that all can be told
// at once.
std::map<std::string, std::string> split_options(const std::vector<std::string>& argv, bool& help,
                                                 std::vector<std::string>& mistakes) {
  std::map<std::string, std::string> values;
  for (size_t i = 1; i < argv.size(); ++i) {
    const std::string& word = argv[i];
    if (word == "-h" || word == "-help" || word == "--help") {
      help = true;
      return values;
    }
    const size_t dashes = word.starts_with("--") ? 2 : word.starts_with("-") ? 1 : 0;
    const size_t equals = std::min(word.find('='), word.size());
    const std::string name = word.substr(dashes, equals - dashes);
    if (dashes == 0) {
      mistakes.push_back(fmt::format("'{}' belongs to no option", word));
    } else if (std::find(kCephtestOptions.begin(), kCephtestOptions.end(), name) ==
               kCephtestOptions.end()) {
      const std::string near = closest(name, kCephtestOptions);
      mistakes.push_back(
          fmt::format("there is no option '{}'{}", word.substr(0, equals),
                      near.empty() ? "" : fmt::format(" (did you mean --{}?)", near)));
    } else if (equals < word.size()) {
      values[name] = word.substr(equals + 1);
    } else if (i + 1 < argv.size()) {
      values[name] = argv[++i];
    } else {
      values[name] = "";
    }
  }
  return values;
}

/// "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string>& words) {
  if (words.size() < 2) return words.empty() ? "" : words.front();
  return fmt::format("{} and {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

int positive(const std::string& name, const std::string& value,
             std::vector<std::string>& mistakes) {
  int number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error == std::errc() && end == value.data() + value.size() && number > 0) return number;
  mistakes.push_back(value.empty()
                         ? fmt::format("--{} needs a value", name)
                         : fmt::format("--{}: '{}' is not a number of 1 or more", name, value));
  return 0;
}

}  // namespace

CephtestArguments parse_cephtest(const std::vector<std::string>& argv) {
  CephtestArguments result;
  std::vector<std::string> mistakes, missing;
  const auto values = split_options(argv, result.help, mistakes);
  if (result.help) return result;
  for (const auto& name : kCephtestOptions) {
    const auto found = values.find(name);
    if (found == values.end()) {
      missing.push_back("--" + name);
    } else if (name == "job-file") {
      result.job_file = found->second;
      if (found->second.empty()) mistakes.push_back("--job-file needs a value");
    } else {
      (name == "go-jobs" ? result.go_jobs : result.max_cpus) =
          positive(name, found->second, mistakes);
    }
  }
  if (!missing.empty())
    mistakes.push_back(
        fmt::format("{} {} missing", listed(missing), missing.size() > 1 ? "are" : "is"));
  if (!mistakes.empty())
    throw UsageError(fmt::format("cephtest: {}", fmt::join(mistakes, "; ")), kCephtestUsage);
  return result;
}

std::vector<std::string> cephtest_as_run(const CephtestArguments& arguments) {
  return {"run",        arguments.job_file,
          "--vms",      std::to_string(arguments.go_jobs),
          "--max-cpus", std::to_string(arguments.max_cpus),
          "--output",   "table"};
}

std::string cephtest_started_line(int64_t wall_ns) {
  return "test started at " + local_time_text(wall_ns);
}
std::string cephtest_ended_line(int64_t wall_ns) {
  return "test ended at " + local_time_text(wall_ns);
}

std::string cephtest_help() {
  return fmt::format(
      "{}\n\n"
      "Runs a fio job for N VMs at once, each with its own image, and prints one row per VM and "
      "job.\n\n"
      "  --job-file FILE   fio job file; {{{{.Name}}}} in it becomes the VM's name: HOST-0 ... "
      "HOST-(N-1)\n"
      "  --go-jobs N       how many VMs\n"
      "  --max-cpus C      how many CPUs the test may use\n"
      "  -h, --help        this text\n\n"
      "Job files and results (fio's JSON) are kept in results/<job file>_proc_<N>/.\n"
      "The same as: cephmark run FILE --vms N --max-cpus C --output table (which can do more).\n",
      kCephtestUsage);
}

}  // namespace cephmark
