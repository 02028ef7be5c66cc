#include "ceph/connect_args.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>
#include <utility>

namespace cephmark {
namespace {

// Takes the value of `--conf X`, `--conf=X`, `-c X` out of the words; the last one wins, as in
// Ceph.
std::string value_of(const std::vector<std::string>& words,
                     std::initializer_list<std::string_view> names) {
  std::string value;
  for (size_t i = 0; i < words.size(); ++i)
    for (std::string_view name : names) {
      const std::string& word = words[i];
      if (word == name && i + 1 < words.size()) value = words[i + 1];
      if (name.starts_with("--") && word.starts_with(std::string(name) + "="))
        value = word.substr(name.size() + 1);
    }
  return value;
}

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
  return user.find('.') == std::string::npos ? "client." + user : user;
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
  const auto words = split_ceph_args(ceph_args);
  ConnectArgs args;
  args.cluster = first_of(target.cluster, first_of(value_of(words, {"--cluster"}), "ceph"));
  args.keyring = first_of(target.keyring, value_of(words, {"--keyring", "-k"}));
  // --id and --user are without the type, --name and -n with it (Ceph's common options).
  const std::string id = first_of(value_of(words, {"--id"}), value_of(words, {"--user"}));
  const std::string name = value_of(words, {"--name", "-n"});
  args.user = full_user_name(first_of(target.user, first_of(name, id)));
  if (!target.conf.empty()) {
    args.conf = target.conf;
    args.conf_origin = "--conf";
  } else if (const std::string conf = value_of(words, {"--conf", "-c"}); !conf.empty()) {
    args.conf = conf;
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
