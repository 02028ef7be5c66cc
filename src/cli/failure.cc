#include "cli/failure.h"

#include <iostream>

#include "base/error.h"
#include "base/time.h"
#include "cli/signals.h"
#include "result/environment.h"

namespace cephmark {

void report(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    std::cerr << "cephmark: " << error.what() << "\n";
    if (!error.hint().empty()) std::cerr << "  hint: " << error.hint() << "\n";
  } catch (const std::exception& error) {
    std::cerr << "cephmark: unexpected failure: " << error.what() << "\n";
  }
}

std::string text_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  }
}

int code_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    return static_cast<int>(error.code());
  } catch (const std::exception&) {
    return static_cast<int>(ExitCode::kEnvironment);
  }
}

void write_failure(OutputSet& outputs, RunResult& result, const std::string& run_id,
                   const std::string& error) {
  result.id = run_id;
  if (result.runner.empty()) result.runner = "native";
  result.error = error;
  result.stop_reason = SignalWatcher::reason();
  if (result.start_wall_ns == 0) result.start_wall_ns = wall_ns();
  result.end_wall_ns = wall_ns();
  result.environment.host = host_facts();
  outputs.begin(result.plan);
  outputs.end_failed(result);
}

}  // namespace cephmark
