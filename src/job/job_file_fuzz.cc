// libFuzzer target: any bytes as a job file. What parses must make jobs, survive the plan codec and
// show its effective options; what does not must say why. Corpus: tests/corpus/job_file.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "job/effective_options.h"
#include "job/job_file.h"
#include "job/plan_codec.h"
#include "job/test_engines.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace cephmark;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ParseOptions options;
  options.allow_unsupported = size % 2 == 1;
  options.access = SourceAccess::none();
  options.access.read_file = [](const std::string& path) -> std::optional<std::string> {
    if (path.size() > 8) return std::nullopt;
    return "bs=8k\ninclude " + path + "\n";
  };
  options.access.variable = [](const std::string& name) -> std::optional<std::string> {
    if (name.size() > 4) return std::nullopt;
    return name + name;
  };
  options.path_exists = [](const std::string& path) { return path.size() % 2 == 0; };
  Diagnostics diagnostics;
  const JobFile file = parse_job_file(text, "fuzz.fio", test_engines(), diagnostics, options);
  diagnostics.warning_lines();
  if (!diagnostics.ok()) {
    CEPHMARK_CHECK(!diagnostics.render(Severity::kError).empty(), "an error without words");
    return 0;
  }
  CEPHMARK_CHECK(!file.sections.empty(), "a good job file has jobs");
  Plan plan;
  plan.vms.push_back(
      {"vm", 7, "host", "", make_jobs(file, {"vm", 7, "host", "pool"}, diagnostics)});
  if (!diagnostics.ok()) return 0;
  for (const JobSpec& job : plan.vms[0].jobs) effective_options(job);
  const Json json = plan_to_json(plan);
  CEPHMARK_CHECK(
      plan_to_json(plan_from_json(parse_json(json.dump(), "fuzz"))).dump() == json.dump(),
      "a plan reads back as it was written");
  return 0;
}
