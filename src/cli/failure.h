// What a command that failed tells: people on stderr, programs in the documents they asked for.
// Functions without state; one thread.
#pragma once

#include <exception>
#include <string>

#include "output/output_set.h"

namespace cephmark {

/// "cephmark: MESSAGE" and the hint, to stderr.
void report(const std::exception_ptr& failure);

/// The message alone, and the exit code that belongs to it.
std::string text_of(const std::exception_ptr& failure);
int code_of(const std::exception_ptr& failure);

/// Writes the outputs of a run that measured nothing: `result`, whose plan is set, with `error` and
/// the present time in it. Throws Error when one could not be written.
void write_failure(OutputSet& outputs, RunResult& result, const std::string& run_id,
                   const std::string& error);

}  // namespace cephmark
