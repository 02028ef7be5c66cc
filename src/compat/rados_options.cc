// The options of rados that are read here, and how they are told.
#include <fmt/format.h>

#include "compat/rados_arguments.h"

namespace cephmark {
namespace {

constexpr RadosOptionHelp kOptions[] = {
    {"pool", 'p', "POOL", "the pool of the objects"},
    {"namespace", 'N', "NS", "the namespace of the objects in the pool"},
    {"all", 0, "", "cleanup: in all namespaces of the pool"},
    {"concurrent-ios", 't', "N", "ops in flight at once (default 16)"},
    {"block-size", 'b', "SIZE", "write: bytes of one op (default 4M)"},
    {"object-size", 'O', "SIZE", "write: bytes of one object (default: those of an op)"},
    {"max-objects", 0, "N", "write: at most so many objects (default: no limit)"},
    {"run-name", 0, "NAME", "which run: the name of the object that describes it"},
    {"no-cleanup", 0, "", "write: the objects stay, for read runs"},
    {"no-hints", 0, "", "write: no allocation hints"},
    {"reuse-bench", 0, "", "write: over the objects of the run before"},
    {"no-verify", 0, "", "reads: contents are not compared"},
    {"show-time", 0, "", "status lines begin with the time"},
    {"object", 0, "", "the op's bytes are the object's data (default)"},
    {"omap", 0, "", "the op's bytes are a value in the object's omap"},
    {"xattr", 0, "", "the op's bytes are an extended attribute of the object"},
    {"write-object", 0, "", "older name of --object, for write runs only"},
    {"write-omap", 0, "", "older name of --omap, for write runs only"},
    {"write-xattr", 0, "", "older name of --xattr, for write runs only"},
    {"omap-read-start-after", 0, "KEY", "reads with --omap: keys after this one, not the op's own"},
    {"omap-read-filter-prefix", 0, "PREFIX", "reads with --omap: keys that begin so"},
    {"omap-read-max-return", 0, "N", "reads with --omap: at most so many values"},
    {"prefix", 0, "PREFIX",
     "cleanup: all objects that begin so (benchmark_data...); reads: the run's objects"},
    {"format", 'f', "FORMAT", "of the report: plain, json, json-pretty, xml"},
    {"pretty-format", 0, "", "as --format json-pretty"},
    {"output", 'o', "FILE", "where the report goes, with --format"},
    {"conf", 'c', "FILE", "configuration of the cluster"},
    {"keyring", 'k', "FILE", "the user's key"},
    {"name", 'n', "NAME", "the user, as client.NAME"},
    {"id", 0, "ID", "the user, without client."},
    {"user", 0, "ID", "as --id"},
    {"cluster", 0, "NAME", "name of the cluster: which conf is read"},
    {"help", 'h', "", "this text"},
    {"compat", 0, "", "the original's report, letter by letter (a link named rados does this)",
     true},
    {"no-compat", 0, "", "percentiles and units", true},
    {"lab", 0, "", "the cluster that 'cephmark lab up' started", true},
    {"json-strings", 0, "", "all JSON values are strings, as the original's", true},
    {"allow-nearfull", 0, "", "write: although the cluster is, or will be, nearly full", true},
    {"payload", 0, "KIND", "write: z (as the original; reads verify it) or random", true},
};

}  // namespace

std::span<const RadosOptionHelp> rados_option_help() {
  return kOptions;
}

std::string rados_help() {
  std::string text =
      "usage: rados -p POOL [-N NS] bench SECONDS|max write|seq|rand [options]\n"
      "       rados -p POOL [-N NS | --all] cleanup [--run-name NAME | --prefix PREFIX] [-t N]\n\n";
  for (const RadosOptionHelp& option : kOptions) {
    std::string left = option.letter ? fmt::format("-{}, ", option.letter) : "    ";
    left += fmt::format("--{}{}{}", option.name, option.value.empty() ? "" : " ", option.value);
    text += fmt::format("  {:<26} {}{}\n", left, option.help, option.ours ? " (ours)" : "");
  }
  return text + "\nSizes: bytes, or with K, M, G, T, P, E (powers of 1024).\n";
}

}  // namespace cephmark
