#include "ceph/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/error.h"

namespace cephmark {
namespace {

std::string named(const std::string& value, const char* fallback) { return value.empty() ? fallback : value; }

std::string conf_text(const CephTarget& target) {
  if (!target.conf.empty()) return target.conf;
  if (const char* environment = std::getenv("CEPH_CONF")) return fmt::format("{} (CEPH_CONF)", environment);
  return fmt::format("/etc/ceph/{}.conf (default)", named(target.cluster, "ceph"));
}

void set_option(rados_t rados, const char* name, const std::string& value) {
  if (const int r = rados_conf_set(rados, name, value.c_str()); r < 0)
    throw Error(fmt::format("cannot set the Ceph option {} to '{}': {}", name, value, errno_text(r)));
}

const char* connect_hint(int error) {
  switch (-error) {
    case ENOENT: return "the keyring does not exist or holds no key of that user (--keyring, --user)";
    case EACCES:
    case EPERM: return "the monitors do not accept that user's key (ceph auth get)";
    case ETIMEDOUT: return "the monitors do not answer: are they running and to be reached from here?";
    default: return "try: ceph --conf CONF --name USER --keyring KEYRING -s";
  }
}

}  // namespace

std::string full_user_name(const std::string& user) {
  if (user.empty()) return "client.admin";
  return user.find('.') == std::string::npos ? "client." + user : user;
}

std::shared_ptr<Cluster> Cluster::connect(const CephTarget& target, int64_t timeout_ns) {
  std::shared_ptr<Cluster> cluster(new Cluster);
  cluster->target_ = target;
  const std::string user = full_user_name(target.user), name = named(target.cluster, "ceph");
  if (const int r = rados_create2(&cluster->rados_, name.c_str(), user.c_str(), 0); r < 0)
    throw Error(fmt::format("cannot start librados as {}: {}", user, errno_text(r)));
  const rados_t rados = cluster->rados_;
  if (const int r = rados_conf_read_file(rados, target.conf.empty() ? nullptr : target.conf.c_str()); r < 0)
    throw Error(fmt::format("cannot read the Ceph configuration {}: {}", conf_text(target), errno_text(r)),
                "name it with --conf, or use --lab for the cluster of 'cephmark lab up'");
  rados_conf_parse_env(rados, nullptr);
  if (!target.keyring.empty()) set_option(rados, "keyring", target.keyring);
  set_option(rados, "admin_socket", "");
  const int64_t seconds = std::max<int64_t>(1, timeout_ns / 1'000'000'000);
  set_option(rados, "client_mount_timeout", std::to_string(seconds));
  if (const int r = rados_connect(rados); r < 0)
    throw Error(fmt::format("cannot connect to the cluster: {} (conf {}, monitors {}, user {}, keyring {}, waited up "
                            "to {} s)",
                            errno_text(r), conf_text(target), named(cluster->option("mon_host"), "none named"), user,
                            named(cluster->option("keyring"), "none"), seconds),
                connect_hint(r));
  char fsid[64] = "";
  if (const int r = rados_cluster_fsid(rados, fsid, sizeof fsid); r < 0)
    throw Error(fmt::format("cannot read the cluster's fsid: {}", errno_text(r)));
  cluster->fsid_ = fsid;
  cluster->instance_id_ = rados_get_instance_id(rados);
  return cluster;
}

Cluster::~Cluster() {
  if (rados_) rados_shutdown(rados_);
}

std::string Cluster::option(const std::string& name) const {
  char value[4096] = "";
  return rados_conf_get(rados_, name.c_str(), value, sizeof value) < 0 ? "" : value;
}

IoContext Cluster::io(const std::string& pool, const std::string& rados_namespace) {
  rados_ioctx_t io = nullptr;
  if (const int r = rados_ioctx_create(rados_, pool.c_str(), &io); r < 0)
    throw Error(fmt::format("cannot use the pool '{}': {}", pool, errno_text(r)),
                r == -ENOENT ? "ceph osd pool ls names the pools that there are" : "");
  rados_ioctx_set_namespace(io, rados_namespace.c_str());
  return IoContext(io);
}

std::vector<std::string> Cluster::pools() {
  std::string names(4096, '\0');
  int needed;
  while ((needed = rados_pool_list(rados_, names.data(), names.size())) > static_cast<int>(names.size()))
    names.resize(needed);
  if (needed < 0) throw Error(fmt::format("cannot list the pools: {}", errno_text(needed)));
  std::vector<std::string> out;
  for (const char* name = names.data(); *name; name += std::strlen(name) + 1) out.emplace_back(name);
  return out;
}

Json Cluster::monitor_command(Json command) {
  command["format"] = "json";
  const std::string prefix = command.value("prefix", ""), request = command.dump();
  const char* requests[] = {request.c_str()};
  char *out = nullptr, *words = nullptr;
  size_t out_length = 0, words_length = 0;
  const int r = rados_mon_command(rados_, requests, 1, "", 0, &out, &out_length, &words, &words_length);
  const std::string text(out ? out : "", out ? out_length : 0), status(words ? words : "", words ? words_length : 0);
  rados_buffer_free(out);
  rados_buffer_free(words);
  if (r < 0)
    throw Error(fmt::format("'ceph {}' failed: {}{}{}", prefix, errno_text(r), status.empty() ? "" : ": ", status),
                r == -EACCES ? fmt::format("user {} lacks the mon cap for it", full_user_name(target_.user)) : "");
  const bool empty = text.find_first_not_of(" \n") == std::string::npos;
  return empty ? Json() : parse_json(text, "the answer to ceph " + prefix);
}

}  // namespace cephmark
