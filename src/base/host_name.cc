#include "base/host_name.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"

namespace cephmark {

std::string host_name() {
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1))
    throw Error(fmt::format("no host name: {}", errno_text(errno)));
  return name;
}

}  // namespace cephmark
