// docs/engines.md is what the engine table says, and the examples suit the engines that there are.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/fd.h"
#include "engine/engine_table.h"
#include "job/job_file.h"
#include "job/job_reference.h"

namespace cephmark {
namespace {

TEST(EngineReference, TheCommittedFileIsWhatTheTableSays) {
  const std::string path = CEPHMARK_SOURCE_DIR "/docs/engines.md";
  const std::string rendered = render_engine_reference(engine_descriptions());
  if (std::getenv("CEPHMARK_UPDATE_DOCS")) std::ofstream(path) << rendered;
  EXPECT_EQ(read_file(path), rendered) << "an engine's options changed: run with "
                                          "CEPHMARK_UPDATE_DOCS=1 to render docs/engines.md anew";
}

TEST(EngineReference, TheExamplesSuitTheEngines) {
  for (const auto& entry : std::filesystem::directory_iterator(CEPHMARK_SOURCE_DIR "/examples")) {
    if (entry.path().extension() != ".fio") continue;
    Diagnostics diagnostics;
    parse_job_file(read_file(entry.path()), entry.path().filename(), engine_descriptions(),
                   diagnostics);
    EXPECT_TRUE(diagnostics.all().empty())
        << diagnostics.render(Severity::kError) << diagnostics.render(Severity::kWarning);
  }
}

}  // namespace
}  // namespace cephmark
