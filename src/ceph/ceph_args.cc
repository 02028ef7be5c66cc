#include "ceph/ceph_args.h"

#include <algorithm>

#include "ceph/connect_args.h"

namespace cephmark {
namespace {

std::string option_line_name(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace

CephArguments parse_ceph_args(const std::string& text) {
  CephArguments result;
  const std::vector<std::string> words = split_ceph_args(text);
  for (size_t i = 0; i < words.size(); ++i) {
    std::string name = words[i], value;
    if (!name.starts_with("-")) continue;
    const size_t equals = name.find('=');
    if (equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    } else if (i + 1 < words.size() && !words[i + 1].starts_with("-")) {
      value = words[++i];
    } else {
      value = "true";
    }
    // --id and --user are without the type, --name and -n with it (Ceph's common options).
    if (name == "-c" || name == "--conf")
      result.target.conf = value;
    else if (name == "-k" || name == "--keyring")
      result.target.keyring = value;
    else if (name == "-n" || name == "--name" || name == "--id" || name == "--user")
      result.target.user = value.starts_with("client.") ? value.substr(7) : value;
    else if (name == "--cluster")
      result.target.cluster = value;
    else if (name == "-m")
      result.options.emplace_back("mon_host", value);
    else if (name.starts_with("--"))
      result.options.emplace_back(option_line_name(name.substr(2)), value);
  }
  return result;
}

}  // namespace cephmark
