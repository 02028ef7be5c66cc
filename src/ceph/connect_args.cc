#include "ceph/connect_args.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "ceph/ceph_args.h"

namespace cephmark {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string first_of(const std::string& a, const std::string& b) {
  return a.empty() ? b : a;
}

}  // namespace

std::string full_user_name(const std::string& user) {
  if (user.empty()) return "client.admin";
  // IDs may have dots themselves ("rbd.mirror"): only Ceph's own types make a full name.
  static constexpr std::array<std::string_view, 6> kTypes = {"client.", "osd.", "mon.",
                                                             "mds.",    "mgr.", "auth."};
  const bool typed = std::any_of(kTypes.begin(), kTypes.end(),
                                 [&](std::string_view type) { return user.starts_with(type); });
  return typed ? user : "client." + user;
}

std::vector<std::string> split_ceph_args(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool open = false;
  for (char c : text) {
    if (quote) {
      if (c == quote)
        quote = 0;
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      open = true;
    } else if (c == ' ' || c == '\t' || c == '\n') {
      if (open) words.push_back(std::exchange(word, ""));
      open = false;
    } else {
      word += c;
      open = true;
    }
  }
  if (open) words.push_back(word);
  return words;
}

std::string ConnectArgs::text() const {
  const std::string where =
      conf.empty() ? fmt::format("/etc/ceph/{}.conf or ~/.ceph/{}.conf", cluster, cluster) : conf;
  return fmt::format("conf {} ({}), user {}", where, conf_origin, user);
}

ConnectArgs settle_connect_args(const CephTarget& target, const std::string& ceph_conf,
                                const std::string& ceph_args) {
  const CephTarget from_args = parse_ceph_args(ceph_args).target;
  ConnectArgs args;
  args.cluster = first_of(target.cluster, first_of(from_args.cluster, "ceph"));
  args.keyring = first_of(target.keyring, from_args.keyring);
  args.user = full_user_name(first_of(target.user, from_args.user));
  if (!target.conf.empty()) {
    args.conf = target.conf;
    args.conf_origin = "--conf, or conf= of the job";
  } else if (!from_args.conf.empty()) {
    args.conf = from_args.conf;
    args.conf_origin = "CEPH_ARGS";
  } else if (!ceph_conf.empty() && target.cluster.empty()) {
    args.conf = ceph_conf;
    args.conf_origin = "CEPH_CONF";
  } else {
    args.conf_origin = "default places";
  }
  return args;
}

ConnectArgs settle_connect_args(const CephTarget& target) {
  return settle_connect_args(target, environment("CEPH_CONF"), environment("CEPH_ARGS"));
}

}  // namespace cephmark
