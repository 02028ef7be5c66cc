// Spelling: "did you mean", and the order in which people list names. Pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace cephmark {

/// Damerau-Levenshtein distance (adjacent transpositions count 1), case-insensitive.
int edit_distance(std::string_view a, std::string_view b);

/// The candidate closest to `word`, or "" when none is near enough to be meant (distance above a
/// third of the longer word, at least 1). Ties go to the earlier candidate.
std::string closest(std::string_view word, std::span<const std::string> candidates);

/// Numbers in names count as numbers: "vm-2" comes before "vm-10".
struct NaturalLess {
  bool operator()(std::string_view a, std::string_view b) const;
};

}  // namespace cephmark
