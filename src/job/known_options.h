// known_options: the names that fio knows, whether or not cephmark honours them, so that a job file
// is never told "unknown option" about a word of fio's and never has one silently ignored.
// Read-only tables, any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cephmark {

struct KnownOption {
  std::string_view name;
  std::string_view alias;  ///< "" when there is none
  std::string_view
      engine;  ///< "" for fio's core options, else the engine (or family) it belongs to
  std::string_view neutral;  ///< the value with which it changes nothing (fio's default); "" : none
  std::string_view neutral_too;  ///< another word of fio's for the same; "" : none
};

/// All options of fio 3.42, core first.
std::span<const KnownOption> known_options();

/// The core option of that name or alias; null when there is none.
const KnownOption* find_known_core(std::string_view name);

/// The engines of fio that have an option of that name: {"rbd", "rados"}.
std::vector<std::string_view> engines_that_know(std::string_view option);

/// Whether fio has an engine of that name.
bool is_known_engine(std::string_view name);

/// Whether fio takes the option without a value, on its command line too (core or any engine's).
bool is_flag_of_fio(std::string_view name);

/// Options that fio takes on its command line only ("output-format"; '_' for '-' is accepted).
bool is_command_line_only(std::string_view name);

}  // namespace cephmark
