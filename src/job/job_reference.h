// job_reference: docs/job-file.md and docs/engines.md, rendered from the option tables so that it
// cannot go stale. Pure functions.
#pragma once

#include <span>
#include <string>

#include "job/option_table.h"

namespace cephmark {

/// The whole of docs/job-file.md: the rules of the language, then every core option.
std::string render_job_reference();

/// The whole of docs/engines.md: the options of each engine. `engines`: engine_descriptions().
std::string render_engine_reference(std::span<const EngineDescription> engines);

}  // namespace cephmark
