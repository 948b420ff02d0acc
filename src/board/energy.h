#pragma once
// The energy that this machine draws, where the system lets us read it: counters of the processors
// (RAPL), sensors of the board (INA), or the battery.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace millrace::board {

/// Counts from its construction on. Whoever else works on the machine counts too. Any thread.
class EnergyMeter {
 public:
  using Clock = std::chrono::steady_clock;

  /// `root`: where the system shows its devices. Of RAPL's zones the packages count, and the memory
  /// beside them; without any, counters of INA228 and of amd_energy's sockets, and all rails of
  /// other INA sensors; without these, a battery that discharges.
  explicit EnergyMeter(const std::filesystem::path& root = "/sys");

  bool can_measure() const { return !counters_.empty() || !rails_.empty(); }
  /// Why nothing can be measured, for people; empty if something can.
  const std::string& reason() const { return reason_; }
  /// "RAPL", "INA sensors", "energy counters of hwmon", "battery"; empty: nothing.
  const std::string& source() const { return source_; }

  /// Whether power is measured, not energy: then sample() has to be called every so often.
  bool needs_samples() const { return !rails_.empty(); }
  /// The power now counts since the last sample.
  void sample(Clock::time_point now = Clock::now());

  /// Joules since the last call, or the construction; nothing if a sensor could not be read
  /// meanwhile, or jumped backwards: a counter that wraps around is followed unless that would mean
  /// more power than any machine has. A counter that wrapped around more than once in between is
  /// not noticed.
  std::optional<double> take(Clock::time_point now = Clock::now());

 private:
  /// A counter of energy; a battery's falls.
  struct Counter {
    std::filesystem::path file;
    double joules_each = 1e-6;  // of what the file counts
    std::int64_t last = 0;
    std::int64_t range = 0;  // where it begins anew; 0: it never does
    bool falls = false;
  };
  /// A sensor of power: in microwatts, or in millivolts and milliamperes.
  struct Rail {
    std::filesystem::path power, voltage, current;
  };

  bool find_rapl(const std::filesystem::path& root);
  void find_sensors(const std::filesystem::path& root);
  void find_energies(const std::filesystem::path& monitor, bool is_sensor);
  void find_battery(const std::filesystem::path& root);
  static std::optional<double> watts_of(const Rail& rail);
  std::optional<double> joules_of(Counter& counter, double seconds) const;

  std::vector<Counter> counters_;
  std::vector<Rail> rails_;
  std::string reason_, source_;
  std::mutex mutex_;
  Clock::time_point last_take_, last_sample_;
  double sampled_ = 0;    // joules since the last take
  bool readable_ = true;  // all samples since then
};

}  // namespace millrace::board
