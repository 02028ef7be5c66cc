#include "ceph/cluster.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/spelling.h"

namespace cephmark {
namespace {

std::string named(const std::string& value, const char* fallback) {
  return value.empty() ? fallback : value;
}

void set_option(rados_t rados, const char* name, const std::string& value) {
  if (const int r = rados_conf_set(rados, name, value.c_str()); r < 0)
    throw Error(
        fmt::format("cannot set the Ceph option {} to '{}': {}", name, value, errno_text(r)));
}

// Path of the first keyring of the list that is there but cannot be read.
std::string unreadable_keyring(const std::string& keyrings) {
  std::string path;
  for (char c : keyrings + ",") {
    if (c != ',' && c != ' ') {
      path += c;
      continue;
    }
    if (!path.empty() && ::access(path.c_str(), F_OK) == 0 && ::access(path.c_str(), R_OK) != 0)
      return path;
    path.clear();
  }
  return "";
}

bool any_keyring(const std::string& keyrings) {
  std::string path;
  for (char c : keyrings + ",") {
    if (c != ',' && c != ' ') {
      path += c;
      continue;
    }
    if (!path.empty() && ::access(path.c_str(), R_OK) == 0) return true;
    path.clear();
  }
  return false;
}

std::string connect_hint(int error, const ConnectArgs& args, const std::string& keyrings,
                         const std::string& monitors) {
  if (const std::string path = unreadable_keyring(keyrings); !path.empty())
    return fmt::format(
        "{} cannot be read by this process: run as another user, or name a keyring with --keyring",
        path);
  if (monitors.empty())
    return fmt::format("the configuration names no monitor (mon_host): is {} the right file?",
                       args.conf.empty() ? "that" : args.conf);
  switch (-error) {
    case ENOENT:
      if (!any_keyring(keyrings))
        return "none of these keyrings exists: name the right one with --keyring";
      return fmt::format("the keyring holds no key of {} (ceph-authtool -l KEYRING)", args.user);
    case EACCES:
    case EPERM:
      return fmt::format(
          "the monitors do not accept the key of {}: compare with 'ceph auth get {}'", args.user,
          args.user);
    case EINVAL:
    case EIO:
      return "the key in the keyring is damaged, or an option has a wrong value";
    case ETIMEDOUT:
      return fmt::format(
          "no monitor of {} answered: are they running, and to be reached from this machine?",
          monitors);
    default:
      return "try: ceph --conf CONF --name USER --keyring KEYRING -s";
  }
}

}  // namespace

std::shared_ptr<Cluster> Cluster::connect(const CephTarget& target, int64_t timeout_ns,
                                          const ClusterSettings& settings) {
  std::shared_ptr<Cluster> cluster(new Cluster);
  cluster->target_ = target;
  cluster->args_ = settle_connect_args(target);
  const ConnectArgs& args = cluster->args_;
  if (const int r = rados_create2(&cluster->rados_, args.cluster.c_str(), args.user.c_str(), 0);
      r < 0)
    throw Error(fmt::format("cannot start librados as {}: {}", args.user, errno_text(r)));
  const rados_t rados = cluster->rados_;
  if (const int r = rados_conf_read_file(rados, args.conf.empty() ? nullptr : args.conf.c_str());
      r < 0)
    throw Error(
        fmt::format("cannot read the Ceph configuration: {} ({})", errno_text(r), args.text()),
        r == -EINVAL ? "its text is not that of a ceph.conf: 'ceph-conf -c FILE -L' tells the line"
                     : "name it with --conf or CEPH_CONF, or use --lab for the cluster of "
                       "'cephmark lab up'");
  rados_conf_parse_env(rados, nullptr);
  cluster->configure(timeout_ns, settings);
  if (const int r = rados_connect(rados); r < 0) cluster->fail_connect(r, timeout_ns);
  char fsid[64] = "";
  if (const int r = rados_cluster_fsid(rados, fsid, sizeof fsid); r < 0)
    throw Error(fmt::format("cannot read the cluster's fsid: {}", errno_text(r)));
  cluster->fsid_ = fsid;
  cluster->instance_id_ = rados_get_instance_id(rados);
  return cluster;
}

void Cluster::configure(int64_t timeout_ns, const ClusterSettings& settings) {
  if (!args_.keyring.empty()) set_option(rados_, "keyring", args_.keyring);
  // Several clients of one name would fight over one socket, and a benchmark's client is nobody's
  // log.
  set_option(rados_, "admin_socket", "");
  set_option(rados_, "log_to_file", "false");
  const std::string seconds = std::to_string(std::max<int64_t>(1, timeout_ns / 1'000'000'000));
  set_option(rados_, "client_mount_timeout", seconds);
  set_option(rados_, "rados_mon_op_timeout", seconds);
  for (const auto& [name, value] : settings.exactly) set_option(rados_, name.c_str(), value);
  for (const auto& [name, value] : settings.at_least) {
    const std::string now = option(name);
    if (std::strtoull(now.c_str(), nullptr, 10) < value)
      set_option(rados_, name.c_str(), std::to_string(value));
  }
}

void Cluster::fail_connect(int error, int64_t timeout_ns) const {
  const std::string monitors = option("mon_host");
  std::string keyring = option("keyring");  // Ceph's own list ends with a comma
  while (!keyring.empty() && (keyring.back() == ',' || keyring.back() == ' ')) keyring.pop_back();
  throw Error(
      fmt::format(
          "cannot connect to the cluster: {} ({}, monitors {}, keyring {}, waited up to {} s)",
          errno_text(error), args_.text(), named(monitors, "none named"), named(keyring, "none"),
          std::max<int64_t>(1, timeout_ns / 1'000'000'000)),
      connect_hint(error, args_, keyring, monitors));
}

Cluster::~Cluster() {
  if (rados_) rados_shutdown(rados_);
}

std::string Cluster::option(const std::string& name) const {
  char value[4096] = "";
  return rados_conf_get(rados_, name.c_str(), value, sizeof value) < 0 ? "" : value;
}

bool Cluster::knows_option(const std::string& name) const {
  char value[4096] = "";
  return rados_conf_get(rados_, name.c_str(), value, sizeof value) != -ENOENT;
}

IoContext Cluster::io(const std::string& pool, const std::string& rados_namespace) {
  rados_ioctx_t io = nullptr;
  if (const int r = rados_ioctx_create(rados_, pool.c_str(), &io); r < 0) {
    std::string hint;
    if (r == -ENOENT) {
      const auto names = pools();
      const std::string near = closest(pool, names);
      hint = near.empty() ? fmt::format("pools that there are: {}", fmt::join(names, ", "))
                          : fmt::format("did you mean {}?", near);
    }
    throw Error(fmt::format("cannot use the pool '{}' as {}: {}", pool, args_.user, errno_text(r)),
                hint);
  }
  rados_ioctx_set_namespace(io, rados_namespace.c_str());
  return IoContext(io);
}

std::vector<std::string> Cluster::pools() {
  std::string names(4096, '\0');
  int needed;
  while ((needed = rados_pool_list(rados_, names.data(), names.size())) >
         static_cast<int>(names.size()))
    names.resize(needed);
  if (needed < 0) throw Error(fmt::format("cannot list the pools: {}", errno_text(needed)));
  std::vector<std::string> out;
  for (const char* name = names.data(); *name; name += std::strlen(name) + 1)
    out.emplace_back(name);
  return out;
}

Json Cluster::monitor_command(Json command) {
  command["format"] = "json";
  const std::string prefix = command.value("prefix", ""), request = command.dump();
  const char* requests[] = {request.c_str()};
  char *out = nullptr, *words = nullptr;
  size_t out_length = 0, words_length = 0;
  const int r =
      rados_mon_command(rados_, requests, 1, "", 0, &out, &out_length, &words, &words_length);
  const std::string text(out ? out : "", out ? out_length : 0),
      status(words ? words : "", words ? words_length : 0);
  rados_buffer_free(out);
  rados_buffer_free(words);
  if (r < 0)
    throw Error(fmt::format("'ceph {}' failed: {}{}{}", prefix, errno_text(r),
                            status.empty() ? "" : ": ", status),
                r == -EACCES ? fmt::format("user {} lacks the mon cap for it", args_.user) : "");
  const bool empty = text.find_first_not_of(" \n") == std::string::npos;
  return empty ? Json() : parse_json(text, "the answer to ceph " + prefix);
}

Json Cluster::osd_command(int osd, Json command) {
  command["format"] = "json";
  const std::string prefix = command.value("prefix", ""), request = command.dump();
  const char* requests[] = {request.c_str()};
  char *out = nullptr, *words = nullptr;
  size_t out_length = 0, words_length = 0;
  const int r =
      rados_osd_command(rados_, osd, requests, 1, "", 0, &out, &out_length, &words, &words_length);
  const std::string text(out ? out : "", out ? out_length : 0);
  const std::string said(words ? words : "", words ? words_length : 0);
  rados_buffer_free(out);
  rados_buffer_free(words);
  const std::string what = fmt::format("'ceph tell osd.{} {}'", osd, prefix);
  if (r < 0)
    throw Error(
        fmt::format("{} failed: {}{}", what, errno_text(r), said.empty() ? "" : ": " + said),
        r == -EACCES ? fmt::format("user {} lacks the cap osd 'allow *' for it", args_.user) : "");
  // Not parse_json: daemons may name a counter twice.
  Json answer = Json::parse(text, nullptr, false);
  if (answer.is_discarded()) throw Error(what + " did not answer in JSON");
  return answer;
}

}  // namespace cephmark
