#pragma once
// The clocks of devices, as far as they can be set from here.
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "board/board.h"
#include "deployment/deployment.h"

namespace millrace::runtime {

/// Makes a simulated device `slowdown` times as slow as at its highest clock. False: work on it is
/// done on this machine.
using SimulatedClock = std::function<bool(const board::Device& device, double slowdown)>;

/// Sets clocks of cores through cpufreq and those of a GPU or NPU through devfreq, where they are
/// writable, or those of a simulated board. When it goes, devices have the limits from before. One
/// thread at a time.
class ClockControl {
 public:
  /// For all devices whose clocks some setting names. `simulated`: none if the board is this
  /// machine, whose clocks are left alone otherwise. `root`: where the system shows its devices.
  ClockControl(const deployment::Deployment& deployment, const board::Board& board,
               SimulatedClock simulated, const std::filesystem::path& root = "/sys");
  ~ClockControl();
  ClockControl(const ClockControl&) = delete;
  ClockControl& operator=(const ClockControl&) = delete;

  /// Devices that are not named get their highest clock. Allocates no memory.
  void set(const deployment::Clocks& clocks);

  /// "device 'gpu': ...", of those whose clocks stay as they are.
  const std::vector<std::string>& staying() const { return staying_; }

 private:
  struct Controlled;
  SimulatedClock simulated_;
  std::vector<Controlled> devices_;
  std::vector<std::string> staying_;
};

}  // namespace millrace::runtime
