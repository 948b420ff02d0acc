#pragma once
// A folder that looks like the /proc and /sys of an RK3588 (four Cortex-A55, two times two
// Cortex-A76, with a clock for each cluster) under Linux 6.1.
#include <filesystem>
#include <fstream>
#include <string>

#include "support/temporary_folder.h"

namespace millrace::test {

class FakeRk3588 {
 public:
  FakeRk3588() {
    std::string cpuinfo;
    for (int core = 0; core < 8; ++core) cpuinfo += block_of(core);
    write("proc/cpuinfo", cpuinfo);
    for (int core = 0; core < 8; ++core) add_core(core);
  }

  const std::filesystem::path& root() const { return folder_.path(); }
  std::filesystem::path sys() const { return folder_ / "sys"; }

  void write(const std::filesystem::path& file, const std::string& text) {
    std::filesystem::create_directories((folder_ / file).parent_path());
    std::ofstream(folder_ / file) << text << '\n';
  }
  void remove(const std::filesystem::path& file) { std::filesystem::remove_all(folder_ / file); }

  /// What the cores of the cluster that begins with this one run at now.
  void set_clock(int first, int mhz) {
    for (int core = first; core < (first == 0 ? 4 : first + 2); ++core)
      write(cpufreq(core) + "scaling_cur_freq", std::to_string(1000 * mhz));
  }

 private:
  static std::string cpufreq(int core) {
    return "sys/devices/system/cpu/cpu" + std::to_string(core) + "/cpufreq/";
  }

  static std::string block_of(int core) {
    return "processor\t: " + std::to_string(core) +
           "\nBogoMIPS\t: 48.00\nFeatures\t: fp asimd asimdhp asimddp\n"
           "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x2\nCPU part\t: " +
           (core < 4 ? "0xd05" : "0xd0b") + "\nCPU revision\t: 0\n\n";
  }

  void add_core(int core) {
    const std::string cpu = "sys/devices/system/cpu/cpu" + std::to_string(core) + "/";
    const bool is_little = core < 4;
    write(cpu + "cpu_capacity", is_little ? "530" : "1024");
    write(cpu + "topology/thread_siblings_list", std::to_string(core));
    write(cpu + "cpufreq/related_cpus", is_little ? "0 1 2 3" : core < 6 ? "4 5" : "6 7");
    write(cpu + "cpufreq/scaling_available_frequencies",
          is_little ? "408000 1008000 1800000" : "408000 1200000 2400000");
    write(cpu + "cpufreq/scaling_cur_freq", is_little ? "1800000" : "2400000");
  }

  TemporaryFolder folder_;
};

}  // namespace millrace::test
