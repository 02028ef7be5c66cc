#include "cli/ceph_options.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/error.h"
#include "ceph/connect_args.h"
#include "lab/lab.h"

namespace cephmark {

void add_ceph_options(CLI::App& app, CephOptions& options) {
  const char* group = "Cluster";
  app.add_option("-c,--conf", options.target.conf,
                 "ceph.conf (else CEPH_CONF, else Ceph's default places)")
      ->type_name("FILE")
      ->group(group);
  app.add_option("-n,--user,--name,--id", options.target.user,
                 "Ceph user, with or without 'client.' (default admin)")
      ->type_name("USER")
      ->group(group);
  app.add_option("-k,--keyring", options.target.keyring, "keyring of that user")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--cluster", options.target.cluster, "name of the cluster (default ceph)")
      ->type_name("NAME")
      ->group(group);
  app.add_flag("--lab", options.lab, "use the cluster that 'cephmark lab up' started")
      ->group(group);
}

CephTarget resolve_ceph_target(const CephOptions& options) {
  if (!options.lab) return options.target;
  if (!options.target.conf.empty())
    throw UsageError("--lab and --conf name two clusters", "give one of them");
  const auto conf = lab_conf_if_running();
  if (!conf) throw Error("no lab is running", "start one: cephmark lab up");
  CephTarget target = options.target;
  target.conf = *conf;
  if (target.keyring.empty()) target.keyring = Lab::open().admin_keyring_path();
  return target;
}

void pass_on_to_ceph(const std::vector<std::string>& words) {
  if (words.empty()) return;
  const char* before = std::getenv("CEPH_ARGS");
  std::string args = before ? before : "";
  for (const std::string& word : words) {
    // Quotes keep a word with blanks together, and would else be part of it.
    const char* quote = word.find(' ') == std::string::npos ? "" : "\"";
    args += fmt::format("{0}{1}{2}{1}", args.empty() ? "" : " ", quote, word);
  }
  ::setenv("CEPH_ARGS", args.c_str(), 1);
}

bool uses_lab(const CephOptions& options) {
  return options.lab || is_lab_conf(settle_connect_args(options.target).conf);
}

}  // namespace cephmark
