#pragma once
// A folder that looks like the system's /sys, with clocks, cooling devices and counters.
#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/controller/clock_control.h"
#include "support/temporary_folder.h"

namespace millrace::test {

class FakeSystem {
 public:
  std::filesystem::path write(const std::filesystem::path& file, const std::string& text) const {
    std::filesystem::create_directories((root() / file).parent_path());
    std::ofstream(root() / file) << text << "\n";
    return root() / file;
  }
  /// The file of its limit.
  std::filesystem::path add_devfreq(const std::string& device, const std::string& highest) const {
    return write("class/devfreq/" + device + "/max_freq", highest);
  }
  std::filesystem::path add_core(int core, const std::string& highest) const {
    return write("devices/system/cpu/cpu" + std::to_string(core) + "/cpufreq/scaling_max_freq",
                 highest);
  }
  /// The file of its state.
  std::filesystem::path add_cooling(int number, const std::string& type) const {
    const std::string device = "class/thermal/cooling_device" + std::to_string(number) + "/";
    write(device + "type", type);
    return write(device + "cur_state", "0");
  }

  std::filesystem::path root() const { return folder_ / "sys"; }
  std::filesystem::path note() const { return folder_ / "note"; }
  runtime::ClockPlaces places() const { return {root(), note()}; }

 private:
  TemporaryFolder folder_;
};

inline std::string first_line(const std::filesystem::path& file) {
  std::string line;
  std::getline(std::ifstream(file) >> std::ws, line);
  return line;
}

}  // namespace millrace::test
