#include "result/environment.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/temporary_directory.h"

namespace cephmark {
namespace {

TEST(Environment, ThisMachine) {
  const auto facts = host_facts();
  for (const char* key :
       {"hostname", "kernel", "cpus", "cpus_allowed", "memory", "program", "load_average"})
    EXPECT_FALSE(facts.at(key).empty()) << key;
  EXPECT_GE(allowed_cpu_count(), 1);
}

TEST(Environment, ReadsProcAndSys) {
  const testing_support::TemporaryDirectory scratch;
  const std::string& root = scratch.path();
  std::filesystem::create_directories(root + "/proc");
  std::filesystem::create_directories(root + "/sys/devices/system/cpu/cpu0/cpufreq");
  std::ofstream(root + "/proc/meminfo")
      << "MemTotal:       16777216 kB\nMemAvailable:    8388608 kB\n"
         "SwapTotal:       2097152 kB\nSwapFree:        1048576 kB\n";
  std::ofstream(root + "/proc/cpuinfo") << "processor\t: 0\nmodel name\t: Some CPU @ 3.00GHz\n"
                                           "flags\t\t: fpu hypervisor sse\n";
  std::ofstream(root + "/proc/loadavg") << "0.50 0.25 0.10 1/200 4711\n";
  std::ofstream(root + "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") << "powersave\n";
  const auto facts = host_facts(root);
  EXPECT_EQ(facts.at("memory"), "16 GiB");
  EXPECT_EQ(facts.at("memory_available"), "8 GiB");
  EXPECT_EQ(facts.at("swap_used"), "1 GiB");
  EXPECT_EQ(facts.at("cpu_model"), "Some CPU @ 3.00GHz");
  EXPECT_EQ(facts.at("virtualisation"), "runs in a virtual machine");
  EXPECT_EQ(facts.at("load_average"), "0.50 0.25 0.10");
  EXPECT_EQ(facts.at("cpu_governor"), "powersave");
}

TEST(Environment, LeavesOutWhatItCannotRead) {
  const auto facts = host_facts("/nonexistent");
  EXPECT_EQ(facts.count("memory"), 0u);
  EXPECT_EQ(facts.count("cpu_governor"), 0u);
  EXPECT_EQ(facts.count("load_average"), 0u);
}

}  // namespace
}  // namespace cephmark
