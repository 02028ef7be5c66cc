// option_help: what fio's --cmdhelp and --enghelp print, from the option tables. Pure functions.
#pragma once

#include <span>
#include <string>

#include "job/option_table.h"

namespace cephmark {

/// All job options, a line each; with a name, that one in full. Throws UsageError for a name that
/// fio does not know.
std::string job_option_help(const std::string& name);

/// "": the engines; "rbd": its options; "rbd,pool": one of them in full. Throws UsageError.
std::string engine_option_help(const std::string& topic,
                               std::span<const EngineDescription> engines);

}  // namespace cephmark
