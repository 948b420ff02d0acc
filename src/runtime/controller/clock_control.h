#pragma once
// The clocks of devices, as far as they can be set from here.
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "board/board.h"
#include "deployment/deployment.h"
#include "runtime/controller/kept_clocks.h"

namespace millrace::runtime {

/// Makes a simulated device `slowdown` times as slow as at its highest clock. False: work on it is
/// done on this machine.
using SimulatedClock = std::function<bool(const board::Device& device, double slowdown)>;

struct ClockPlaces {
  std::filesystem::path root = "/sys";  // where the system shows its devices
  std::filesystem::path note = {};      // see KeptClocks
};

/// Sets clocks of cores through cpufreq and those of a GPU or NPU through devfreq, where they are
/// writable, or those of a simulated board. When it goes, devices have the limits from before; if
/// the process is killed, the next one gives them back. One thread at a time.
class ClockControl {
 public:
  /// For all devices whose clocks some setting names. `simulated`: none if the board is this
  /// machine, whose clocks are left alone otherwise.
  ClockControl(const deployment::Deployment& deployment, const board::Board& board,
               SimulatedClock simulated, const ClockPlaces& places = {});
  ~ClockControl();
  ClockControl(const ClockControl&) = delete;
  ClockControl& operator=(const ClockControl&) = delete;

  /// Devices that are not named get their highest clock. Allocates no memory.
  void set(const deployment::Clocks& clocks);

  /// "device 'gpu': ...", of those whose clocks stay as they are.
  const std::vector<std::string>& staying() const { return staying_; }
  /// So many limits a process that was killed had left behind.
  std::size_t restored() const { return restored_; }
  /// Two more each time that they are set; odd: they are being set. Any thread.
  std::uint64_t times_set() const { return times_set_.load(std::memory_order_acquire); }

 private:
  struct Controlled;
  void add_simulated(const board::Device& device);
  void add(const board::Device& device, const std::filesystem::path& root);
  void keep_limits();

  SimulatedClock simulated_;
  std::unique_ptr<KeptClocks> kept_;  // outlives the limits; none: it sets none
  std::size_t restored_ = 0;
  std::vector<Controlled> devices_;
  std::atomic<std::uint64_t> times_set_{0};
  std::vector<std::string> staying_;
};

}  // namespace millrace::runtime
