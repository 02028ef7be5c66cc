#include "run/fio_ceph_conf.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>

#include "base/error.h"
#include "base/fd.h"

namespace cephmark {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool has_engine(const Plan& plan, const std::string& engine) {
  for (const auto& vm : plan.vms)
    for (const auto& job : vm.jobs)
      if (job.ioengine == engine) return true;
  return false;
}

std::string bare_user(const std::string& user) {
  return user.starts_with("client.") ? user.substr(7) : user;
}

std::string client_of(const JobSpec& job) {
  const std::string name = job.engine_option("clientname");
  return name.empty() ? "admin" : bare_user(name);
}

const std::string& first_of(const std::string& a, const std::string& b) {
  return a.empty() ? b : a;
}

CephTarget effective_target(const Plan& plan, const CephArguments& arguments) {
  CephTarget target = plan.ceph;
  target.conf = first_of(target.conf, first_of(arguments.target.conf, environment("CEPH_CONF")));
  target.user = first_of(target.user, arguments.target.user);
  target.keyring = first_of(target.keyring, arguments.target.keyring);
  target.cluster = first_of(target.cluster, arguments.target.cluster);
  return target;
}

std::string find_base_conf(const CephTarget& target) {
  std::vector<std::string> places;
  if (!target.conf.empty()) {
    // Ceph takes a list here and reads the first that is there.
    std::stringstream list(target.conf);
    for (std::string path; std::getline(list, path, ',');) places.push_back(path);
  } else {
    const std::string name = (target.cluster.empty() ? "ceph" : target.cluster) + ".conf";
    places = {"/etc/ceph/" + name, environment("HOME") + "/.ceph/" + name, name};
  }
  for (const auto& path : places)
    if (::access(path.c_str(), R_OK) == 0) return path;
  throw Error(fmt::format("--runner fio: no ceph.conf that can be read (looked at {})",
                          fmt::join(places, ", ")),
              "name it with --conf FILE, or use --lab");
}

void cache_lines(std::string& text, RbdCache cache) {
  switch (cache) {
    case RbdCache::kOff:
      text += "rbd_cache = false\n";
      break;
    case RbdCache::kWriteAround:
      text += "rbd_cache = true\nrbd_cache_policy = writearound\n";
      break;
    case RbdCache::kWriteBack:
      text += "rbd_cache = true\nrbd_cache_policy = writeback\n";
      break;
    case RbdCache::kAsFio:
    case RbdCache::kConf:
      break;
  }
}

}  // namespace

void check_fio_ceph_jobs(const Plan& plan) {
  const CephArguments arguments = parse_ceph_args(environment("CEPH_ARGS"));
  const CephTarget target = effective_target(plan, arguments);
  for (const auto& vm : plan.vms) {
    for (const auto& job : vm.jobs) {
      if (job.ioengine != "rbd" && job.ioengine != "rados") continue;
      const std::string name = job.engine_option("clientname");
      if (name.starts_with("client.") && job.engine_option("clustername").empty())
        throw UsageError(
            fmt::format("{}: clientname={}: fio puts \"client.\" in front itself, would ask for "
                        "client.{} and hang",
                        job.source, name, name),
            fmt::format("write clientname={}, or leave out --runner fio", bare_user(name)));
      if (!target.user.empty() && bare_user(target.user) != client_of(job))
        throw UsageError(
            fmt::format("{}: fio's {} engine takes its user from the job's clientname= only, which "
                        "is '{}'; "
                        "the user '{}' cannot be given to it",
                        job.source, job.ioengine, client_of(job), bare_user(target.user)),
            fmt::format("write clientname={} into the job, or leave out --runner fio",
                        bare_user(target.user)));
      if (job.ioengine != "rados") continue;
      const std::string reads = first_of(job.engine_option("conf"), "/etc/ceph/ceph.conf");
      if (!target.keyring.empty() || (!target.conf.empty() && target.conf != reads))
        throw UsageError(
            fmt::format("{}: fio's rados engine reads {} and nothing else; it cannot be given {}",
                        job.source, reads,
                        target.keyring.empty() ? "the conf " + target.conf
                                               : "the keyring " + target.keyring),
            "write conf=FILE into the job (and keyring into that file), or leave out --runner fio");
    }
  }
}

std::string fio_ceph_conf_text(const std::string& base, const Plan& plan,
                               const CephArguments& arguments) {
  std::set<std::string> clients;
  for (const auto& vm : plan.vms)
    for (const auto& job : vm.jobs)
      if (job.ioengine == "rbd") clients.insert(client_of(job));
  const CephTarget target = effective_target(plan, arguments);
  std::string text = base;
  if (!text.empty() && text.back() != '\n') text += "\n";
  text += "\n# For one run of fio, by cephmark:\n";
  for (const auto& client : clients) {
    // The narrowest section, so that it wins over [global] and [client]; of two lines the later one
    // counts.
    text += fmt::format("[client.{}]\n", client);
    for (const auto& [name, value] : arguments.options)
      text += fmt::format("{} = {}\n", name, value);
    if (!target.keyring.empty())
      text += fmt::format("keyring = {}\n", std::filesystem::absolute(target.keyring).string());
    cache_lines(text, plan.rbd_cache);
  }
  return text;
}

std::map<std::string, std::string> prepare_fio_ceph(const Plan& plan,
                                                    const std::string& directory) {
  if (!has_engine(plan, "rbd")) return {};
  const CephArguments arguments = parse_ceph_args(environment("CEPH_ARGS"));
  const std::string base = find_base_conf(effective_target(plan, arguments));
  const std::string path = directory + "/" + std::filesystem::path(base).filename().string();
  write_file_atomically(path, fio_ceph_conf_text(read_file(base), plan, arguments), 0600);
  return {{"CEPH_CONF", path}};
}

}  // namespace cephmark
