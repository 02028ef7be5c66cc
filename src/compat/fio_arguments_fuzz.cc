// libFuzzer target: any words, one per line, as a command line of fio's, with one job file that may
// be named. What is taken must make a plan; what is not must say why. Corpus:
// tests/corpus/fio_arguments.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/error.h"
#include "compat/fio_plan.h"
#include "job/test_engines.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cephmark;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> argv = {"fio"};
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    argv.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  Diagnostics diagnostics;
  const FioArguments arguments = parse_fio_arguments(argv, test_engines(), diagnostics);
  ParseOptions options;
  options.allow_unsupported = arguments.allow_unsupported;
  options.access = SourceAccess::none();
  const auto read = [](const std::string& path) -> std::string {
    if (path.size() % 2 == 0) throw Error("there is no file " + path);
    return "[global]\nbs=8k\n[j]\nrw=randread\nsize=1m\n[k]\nstonewall\nsize=1m\n";
  };
  try {
    const Plan plan = make_fio_plan(arguments, argv, test_engines(), read, options, diagnostics);
    if (diagnostics.ok())
      CEPHMARK_CHECK(!plan.vms.at(0).jobs.empty(), "a good command line has jobs");
    else
      CEPHMARK_CHECK(!diagnostics.render(Severity::kError).empty(), "an error without words");
  } catch (const Error& error) {
    CEPHMARK_CHECK(*error.what() != 0, "an error without words");
  }
  return 0;
}
