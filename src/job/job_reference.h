// job_reference: docs/job-file.md, rendered from the option tables so that it cannot go stale. Pure
// functions.
#pragma once

#include <span>
#include <string>

#include "job/option_table.h"

namespace cephmark {

/// The whole of docs/job-file.md: the rules of the language, then every core option.
std::string render_job_reference();

/// A section with the options of each engine, in Markdown.
std::string render_engine_reference(std::span<const EngineDescription> engines);

}  // namespace cephmark
