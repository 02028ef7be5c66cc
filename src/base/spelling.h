// Spelling: "did you mean". Pure functions.
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

}  // namespace cephmark
