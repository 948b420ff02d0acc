#pragma once
// The clocks that cores really have while they work: heat, or the governor, may lower them.
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/units.h"
#include "board/board.h"

namespace millrace::runtime {

struct ClockSample {
  std::size_t device = 0;  // ClockRecord::devices
  std::chrono::steady_clock::time_point at;
  board::Megahertz clock;
};

struct WatchedDevice {
  std::string name;
  board::Megahertz highest = {};  // that the device can have; 0: unknown
  board::Megahertz mean = {};     // of all samples
  board::Megahertz most = {};     // of one sample
  bool is_limited = false;        // its cooling lowered the clock at some time
};

struct ClockRecord {
  std::vector<WatchedDevice> devices;  // empty: the system tells no clocks
  std::vector<ClockSample> samples;    // in order; of a long time the last ones
};

/// Reads the clocks of CPU devices, on a thread of its own, from now on until stop(). No thread
/// where the system tells none. One thread at a time.
class ClockWatch {
 public:
  static constexpr Time usual_interval = std::chrono::milliseconds(100);

  /// `root`: where the system shows its devices.
  explicit ClockWatch(const std::vector<board::Device>& devices, Time interval = usual_interval,
                      const std::filesystem::path& root = "/sys");
  ~ClockWatch();
  ClockWatch(const ClockWatch&) = delete;
  ClockWatch& operator=(const ClockWatch&) = delete;

  /// Reads once more. Later calls return the same.
  const ClockRecord& stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::runtime
