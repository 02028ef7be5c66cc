#include "cli/rados_front.h"

#include <fmt/format.h>
#include <rados/librados.h>
#include <unistd.h>

#include <iostream>
#include <stop_token>

#include "base/spelling.h"
#include "cli/ceph_options.h"
#include "cli/failure.h"
#include "cli/signals.h"
#include "output/ceph_text.h"

namespace cephmark {
namespace {

constexpr int64_t kConnect_ns = 10'000'000'000;
constexpr int64_t kPatience_ns = 15'000'000'000;  ///< longer: a failed connect says more

std::string name_of(const std::string& word) {
  std::string name = word.substr(0, word.find('='));
  name.erase(0, name.find_first_not_of('-'));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

void refuse_unknown(Cluster& cluster, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (cluster.knows_option(name_of(word))) continue;
    std::vector<std::string> known;
    for (const RadosOptionHelp& option : rados_option_help())
      known.push_back("--" + std::string(option.name));
    const std::string written = word.substr(0, word.find('='));
    const std::string near = closest(written, known);
    throw RadosUsageError(fmt::format("there is no option {}", written),
                          near.empty() ? "cephmark rados --help" : "did you mean " + near + "?");
  }
}

}  // namespace

std::string removed_text(size_t objects) {
  return fmt::format("Removed {} object{}", objects, objects == 1 ? "" : "s");
}

void tell_rados_error(const std::string& during, int error) {
  const std::string text = ceph_errno_text(error);
  std::cerr << fmt::format("error during {}: {}\nerror {}: {}\n", during, text, error, text);
}

void with_patience(const std::string& what, const std::function<void(Headway& headway)>& step) {
  std::stop_source stop;
  const SignalWatcher signals(stop);
  auto headway = std::make_shared<Headway>();
  HeadwayLimits limits;
  limits.silence_ns = kPatience_ns;
  try {
    headway->run(
        what, [step, headway] { step(*headway); }, limits, stop.get_token());
  } catch (const Error& error) {
    if (!headway->left_behind()) throw;
    std::cerr << "cephmark: " << error.what() << "\n"
              << "  hint: are its OSDs up and reachable from here, is the pool active?\n"
              << std::flush;
    std::cout.flush();
    ::_exit(SignalWatcher::received() ? SignalWatcher::exit_code()
                                      : static_cast<int>(ExitCode::kIoErrors));
  }
}

std::shared_ptr<Cluster> connect_for(const RadosArguments& arguments, bool compat) {
  pass_on_to_ceph(arguments.unknown);
  auto cluster = Cluster::connect(arguments.ceph, kConnect_ns);
  if (!compat) refuse_unknown(*cluster, arguments.unknown);
  return cluster;
}

IoContext open_pool(Cluster& cluster, const RadosArguments& arguments) {
  const int64_t id = rados_pool_lookup(cluster.rados(), arguments.pool.c_str());
  if (id == -ENOENT)
    throw RadosPoolFailure(
        fmt::format("error opening pool {}: {}", arguments.pool, ceph_errno_text(ENOENT)),
        "ceph osd pool ls names the pools that there are");
  return cluster.io(arguments.pool, arguments.rados_namespace);
}

}  // namespace cephmark
