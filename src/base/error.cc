#include "base/error.h"

#include <cstdlib>
#include <cstring>

namespace cephmark {

std::string errno_name(int error) {
  const char* name = strerrorname_np(std::abs(error));
  return name ? name : "E" + std::to_string(std::abs(error));
}

std::string errno_text(int error) {
  const char* text = strerrordesc_np(std::abs(error));
  if (!text) return "error " + std::to_string(error);
  return std::string(text) + " (" + errno_name(error) + ")";
}

}  // namespace cephmark
