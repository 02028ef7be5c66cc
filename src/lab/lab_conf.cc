#include "lab/lab_conf.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>

#include "base/error.h"
#include "base/units.h"

namespace cephmark {
namespace {

// The least value Ceph accepts for osd_memory_target; below it the caches get a fixed size instead.
constexpr uint64_t kLeastMemoryTarget = 896 * kMiB;

std::string store_options(const LabSetup& setup) {
  std::string text = fmt::format("osd_objectstore = {}\n", setup.store);
  if (setup.store == "memstore") {
    text += fmt::format("memstore_device_bytes = {}\n", setup.osd_size_bytes);
  } else {
    text += fmt::format("bluestore_block_size = {}\nbluestore_block_create = true\n",
                        setup.osd_size_bytes);
  }
  if (setup.osd_memory_bytes >= kLeastMemoryTarget)
    return text + fmt::format("osd_memory_target = {}\n", setup.osd_memory_bytes);
  return text + fmt::format("bluestore_cache_autotune = false\nbluestore_cache_size = {}\n",
                            std::max<uint64_t>(64 * kMiB, setup.osd_memory_bytes / 2));
}

}  // namespace

uint64_t osd_memory_for(uint64_t machine_bytes, int osds) {
  return std::min<uint64_t>(machine_bytes / 4 / static_cast<uint64_t>(std::max(osds, 1)), 2 * kGiB);
}

int lab_pg_num(int osds) {
  return static_cast<int>(std::max(32u, std::bit_ceil(static_cast<unsigned>(osds) * 10u)));
}

std::string mon_address(const LabSetup& setup) {
  const std::string host =
      setup.bind.find(':') == std::string::npos ? setup.bind : "[" + setup.bind + "]";
  return fmt::format("[v2:{0}:{1},v1:{0}:{2}]", host, setup.mon_v2_port, setup.mon_v1_port);
}

std::string lab_conf_text(const std::string& directory, const LabSetup& setup) {
  const bool ipv6 = setup.bind.find(':') != std::string::npos;
  std::string text = fmt::format(
      "# Made by cephmark lab, and made anew by each 'cephmark lab up'.\n"
      "[global]\n"
      "fsid = {fsid}\n"
      "mon_host = {mon}\n"
      "public_addr = {bind}\n"
      "cluster_addr = {bind}\n"
      "ms_bind_ipv4 = {ipv4}\n"
      "ms_bind_ipv6 = {ipv6}\n"
      "auth_cluster_required = cephx\n"
      "auth_service_required = cephx\n"
      "auth_client_required = cephx\n"
      "keyring = {dir}/keyring\n"
      "run_dir = {run}\n"
      "crash_dir = {dir}/crash\n"
      "osd_pool_default_size = {replicas}\n"
      "osd_pool_default_pg_autoscale_mode = off\n"
      "osd_crush_chooseleaf_type = 0\n"  // replicas on OSDs of one host
      "mon_allow_pool_size_one = true\n"
      "mon_warn_on_pool_no_redundancy = false\n",
      fmt::arg("fsid", setup.fsid), fmt::arg("mon", mon_address(setup)),
      fmt::arg("bind", setup.bind), fmt::arg("ipv4", !ipv6), fmt::arg("ipv6", ipv6),
      fmt::arg("dir", directory), fmt::arg("run", setup.run_directory),
      fmt::arg("replicas", setup.replicas));
  // Scrubs would disturb measurements; the flags that forbid them would cost HEALTH_OK, so they are
  // put off.
  text +=
      "osd_scrub_min_interval = 31536000\n"
      "osd_scrub_max_interval = 31536000\n"
      "osd_deep_scrub_interval = 31536000\n"
      "mgr_stats_period = 1\n";
  for (const char* type : {"mon", "mgr", "osd", "mds"})
    text += fmt::format(
        "\n[{0}]\n{0}_data = {1}/{0}/$id\nkeyring = {1}/{0}/$id/keyring\nlog_file = "
        "{1}/log/$name.log\n"
        "pid_file = {2}/$name.pid\nadmin_socket = {2}/$name.asok\n{3}",
        type, directory, setup.run_directory,
        std::string_view(type) == "osd" ? store_options(setup)
        : std::string_view(type) == "mon"
            ? "auth_allow_insecure_global_id_reclaim = false\n"
              "mon_allow_pool_delete = true\n"
              "mon_data_avail_warn = 2\n"  // per cent free: the disk is not the lab's own
              "mon_data_avail_crit = 1\n"
              "mgr_initial_modules = iostat\n"
            : "");
  // Several clients of one name, and several contexts of one process, each need a socket of their
  // own.
  return text +
         fmt::format("\n[client]\nadmin_socket = {}/$name.$pid.$cctid.asok\n", setup.run_directory);
}

std::string keyring_text(const std::vector<LabKey>& keys) {
  std::string text;
  for (const LabKey& key : keys) {
    text += fmt::format("[{}]\n\tkey = {}\n", key.entity, key.secret);
    for (const auto& [service, cap] : key.caps)
      text += fmt::format("\tcaps {} = \"{}\"\n", service, cap);
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> caps_for(const std::string& entity) {
  const std::string type = entity.substr(0, entity.find('.'));
  if (type == "mon") return {{"mon", "allow *"}};
  if (type == "mgr") return {{"mon", "allow profile mgr"}, {"osd", "allow *"}, {"mds", "allow *"}};
  if (type == "osd")
    return {{"mon", "allow profile osd"}, {"mgr", "allow profile osd"}, {"osd", "allow *"}};
  if (type == "mds")
    return {{"mon", "allow profile mds"},
            {"mgr", "allow profile mds"},
            {"osd", "allow rw tag cephfs *=*"},
            {"mds", "allow"}};
  return {{"mon", "allow *"}, {"mgr", "allow *"}, {"osd", "allow *"}, {"mds", "allow *"}};
}

void check_lab_path(const std::string& directory) {
  for (const char c : directory)
    if (!std::isalnum(static_cast<unsigned char>(c)) &&
        std::string_view("/._+@~:-").find(c) == std::string_view::npos)
      throw UsageError(
          fmt::format(
              "a lab cannot live in '{}': Ceph's configuration file does not take '{}' in a path",
              directory, c),
          "choose a directory of letters, digits and ._+@~:- with --dir");
}

bool socket_path_fits(const std::string& directory) {
  // "/run/" + a client's name of up to 20 letters + ".4194304." + a context's address + ".asok"
  return directory.size() + 5 + 20 + 9 + 15 + 5 < 108;
}

}  // namespace cephmark
