// sysbench_options: the table of sysbench's options, common ones and fileio's, in the order of its
// help: what each sets, and how it is told. Internal to src/compat. Pure.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "compat/sysbench_arguments.h"

namespace cephmark {

/// What an option sets, when it is no plain member.
namespace sysbench_kinds {
/// SIZE takes K, M, G, T; N does not (but --file-block-size, as in sysbench).
struct SizeMember {
  uint64_t SysbenchFileOptions::*to;
};
/// It is read but says nothing here (the stack of sysbench's threads, debugging).
struct Ignored {};
struct IgnoredFlag {};
/// What sysbench can and we cannot.
struct Refused {
  const char* instead;
};
struct ExtraFlags {};
/// Sets others, whatever is given for them.
struct Preset {};
}  // namespace sysbench_kinds

struct SysbenchOption {
  enum class Group : uint8_t { kGeneral, kRandom, kLog, kFile, kOurs };
  template <typename T>
  using Common = T SysbenchArguments::*;
  template <typename T>
  using File = T SysbenchFileOptions::*;
  using Target =
      std::variant<Common<int>, Common<int64_t>, Common<double>, Common<bool>, Common<std::string>,
                   File<int>, File<double>, File<bool>, File<std::string>,
                   sysbench_kinds::SizeMember, sysbench_kinds::Ignored, sysbench_kinds::IgnoredFlag,
                   sysbench_kinds::Refused, sysbench_kinds::ExtraFlags, sysbench_kinds::Preset>;

  const char* name;
  const char* value;  ///< as sysbench's help shows it, with its '='
  const char* help;
  Group group;
  Target target;
  const char* deprecated_for = "";
};

/// By name without dashes; underscores may stand for the dashes inside. Null: there is none.
const SysbenchOption* find_sysbench_option(std::string name);

}  // namespace cephmark
