// lab_remove: takes a lab's processes and data away. Internal to lab_up and lab_down, which hold
// the lock.
#pragma once

#include <string>

#include "lab/lab.h"
#include "lab/lab_state.h"

namespace cephmark {

/// Ends the lab's processes and removes what a lab puts into its directory, the marker last: cut
/// off at any point, it can be done again. Files that are not a lab's stay, and are told.
void remove_lab_content(const std::string& directory, LabState& state, const LabProgress& say);

}  // namespace cephmark
