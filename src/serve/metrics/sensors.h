#pragma once
// What the machine tells of itself: temperatures, clocks, energy, the memory of this process.
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "board/energy.h"
#include "runtime/waiting/repeated.h"

namespace millrace::serve {

struct SensorsNow {
  std::map<std::string, double> celsius;     // by sensor: "thermal_zone0 x86_pkg_temp"
  std::map<std::string, double> megahertz;   // by core: "cpu0"
  std::optional<double> joules;              // since these sensors are; none: nobody measures
  std::string source_of_energy = {};         // "RAPL"
  double resident_bytes = 0;
};

/// Any thread.
class Sensors {
 public:
  /// `root`: where the system shows its devices.
  explicit Sensors(std::filesystem::path root = "/sys");
  SensorsNow now();

 private:
  const std::filesystem::path root_;
  std::mutex mutex_;
  board::EnergyMeter meter_;
  std::unique_ptr<runtime::Repeated> sampler_;
  double joules_ = 0;
};

}  // namespace millrace::serve
