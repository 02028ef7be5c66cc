#include "lab/lab_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>

#include "base/error.h"
#include "base/fd.h"
#include "lab/lab_conf.h"
#include "lab/network.h"

namespace cephmark {
namespace {

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

// Keys of everybody. The monitor takes them into its database when it is made, so that nobody has
// to ask for them.
void write_keyrings(const LabDaemons& lab, const LabSetup& setup) {
  std::vector<LabKey> all;
  const auto add = [&](const std::string& entity) {
    all.push_back(
        {entity, trimmed(lab.tool({"ceph-authtool", "--gen-print-key"})), caps_for(entity)});
    return all.back();
  };
  const std::string& directory = lab.directory();
  write_file_atomically(directory + "/keyring", keyring_text({add("client.admin")}), 0600);
  add("mon.");
  for (const std::string& name : LabDaemons::names(setup)) {
    if (name == "mon.a") continue;  // its mkfs wants to make its directory and keyring itself
    std::string own = directory + "/" + name;
    std::replace(own.begin() + static_cast<std::ptrdiff_t>(directory.size()), own.end(), '.', '/');
    make_directories(own);
    write_file_atomically(own + "/keyring", keyring_text({add(name)}), 0600);
  }
  write_file_atomically(directory + "/mon.keyring", keyring_text(all), 0600);
}

void make_monitor(const LabDaemons& lab, const LabSetup& setup) {
  const std::string map = lab.directory() + "/monmap";
  lab.tool({"monmaptool", "--create", "--clobber", "--fsid", setup.fsid, "--addv", "a",
            mon_address(setup), map});
  make_directories(lab.directory() + "/mon");
  lab.tool({"ceph-mon", "--cluster", "ceph", "-c", lab.conf_path(), "-i", "a", "--mkfs", "--monmap",
            map, "--keyring", lab.directory() + "/mon.keyring"});
}

// Makes the OSDs' stores, a few at a time, without asking a monitor for anything.
void make_stores(const LabDaemons& lab, const LabSetup& setup) {
  std::atomic<int> next = 0;
  const auto work = [&] {
    for (int osd; (osd = next++) < setup.osds;)
      lab.tool(
          {"ceph-osd", "--cluster", "ceph", "-c", lab.conf_path(), "-i", std::to_string(osd),
           "--no-mon-config", "--mkfs", "--osd-uuid", setup.osd_uuids[static_cast<size_t>(osd)]},
          "", 600'000'000'000);
  };
  std::vector<std::future<void>> workers;
  for (int i = 0; i < std::min(setup.osds, 4); ++i)
    workers.push_back(std::async(std::launch::async, work));
  for (auto& worker : workers) worker.get();
}

void register_osds(const LabDaemons& lab, const LabSetup& setup) {
  for (int osd = 0; osd < setup.osds; ++osd) {
    const std::string given =
        trimmed(lab.ceph({"osd", "new", setup.osd_uuids[static_cast<size_t>(osd)]}));
    if (given != std::to_string(osd))
      throw Error(fmt::format("the monitor numbered the lab's OSD {} as '{}'", osd, given));
  }
}

// Modules that would make pools or move data on their own, and so change what a measurement finds.
void quieten_manager(const LabDaemons& lab) {
  lab.ceph({"config", "set", "mgr", "mgr/devicehealth/enable_monitoring", "false", "--force"});
  lab.ceph({"config", "set", "mgr", "mgr/balancer/active", "false", "--force"});
}

void make_cephfs(LabDaemons& lab, const LabProgress& say) {
  lab.ceph({"osd", "pool", "create", "cephfs_metadata", "8"});
  lab.ceph({"osd", "pool", "create", "cephfs_data", "8"});
  lab.ceph({"fs", "new", "cephfs", "cephfs_metadata", "cephfs_data"});
  lab.start("mds.a");
  lab.wait_for("get its MDS active", 120'000'000'000, [&] {
    return lab.ceph({"mds", "stat"}).find("up:active") != std::string::npos;
  });
  say("mds.a is active, file system cephfs is ready");
}

}  // namespace

void write_lab_conf(const LabDaemons& lab, const LabSetup& setup) {
  make_directories(lab.directory() + "/log");
  make_directories(lab.directory() + "/crash");
  make_directories(setup.run_directory);
  write_file_atomically(lab.conf_path(), lab_conf_text(lab.directory(), setup));
}

void build_lab(LabDaemons& lab, const LabProgress& say) {
  LabSetup& setup = lab.state().setup;
  setup.mon_v2_port = find_free_ports(setup.bind, 2);
  setup.mon_v1_port = setup.mon_v2_port + 1;
  lab.save();
  write_lab_conf(lab, setup);
  write_keyrings(lab, setup);
  say("making the stores of the OSDs");
  auto stores = std::async(std::launch::async, [&] { make_stores(lab, setup); });

  make_monitor(lab, setup);
  lab.start("mon.a");
  lab.wait_for_monitor();
  lab.state().ceph_version =
      lab.ceph_json({"tell", "mon.a", "version"}).at("version").get<std::string>();
  say(fmt::format("mon.a runs Ceph {} at {}", lab.state().ceph_version, mon_address(setup)));
  quieten_manager(lab);
  lab.start("mgr.x");
  register_osds(lab, setup);
  stores.get();
  for (int osd = 0; osd < setup.osds; ++osd) lab.start(fmt::format("osd.{}", osd));
  lab.ceph({"osd", "pool", "create", "rbd", std::to_string(lab_pg_num(setup.osds))});
  lab.wait_for_osds();
  say("all OSDs are up");
  lab.tool({"rbd", "-c", lab.conf_path(), "-n", "client.admin", "pool", "init", "rbd"});
  if (setup.cephfs) make_cephfs(lab, say);
  lab.wait_for_clean();
}

void move_monitor(LabDaemons& lab) {
  LabSetup setup = lab.state().setup;
  setup.mon_v2_port = find_free_ports(setup.bind, 2);
  setup.mon_v1_port = setup.mon_v2_port + 1;
  const std::string map = lab.directory() + "/monmap";
  const std::vector<std::string> mon = {"ceph-mon",      "--cluster", "ceph", "-c",
                                        lab.conf_path(), "-i",        "a"};
  const auto with = [&](std::vector<std::string> argv, const char* option) {
    argv.insert(argv.end(), {option, map});
    return argv;
  };
  lab.tool(with(mon, "--extract-monmap"));
  lab.tool({"monmaptool", "--rm", "a", map});
  lab.tool({"monmaptool", "--addv", "a", mon_address(setup), map});
  lab.tool(with(mon, "--inject-monmap"));
  lab.state().setup = setup;
  lab.save();
  write_lab_conf(lab, setup);
}

}  // namespace cephmark
