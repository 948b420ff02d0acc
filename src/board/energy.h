#pragma once
// The energy counters of this machine's processors (RAPL), where the system lets us read them.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace millrace::board {

/// Counts from its construction on. Whoever else works on the machine counts too.
class EnergyMeter {
 public:
  /// `folder`: where the system has its power zones. Of those, the packages count, and the memory
  /// beside them.
  explicit EnergyMeter(const std::filesystem::path& folder = "/sys/class/powercap");

  bool can_measure() const { return !zones_.empty(); }
  /// Why nothing can be measured, for people; empty if something can.
  const std::string& reason() const { return reason_; }
  /// Joules since the last call, or the construction; nothing if a counter cannot be read. A
  /// counter that wrapped around more than once in between is not noticed.
  std::optional<double> take();

 private:
  struct Zone {
    std::filesystem::path counter;
    std::int64_t last = 0, range = 0;  // microjoules
  };
  std::vector<Zone> zones_;
  std::string reason_;
};

}  // namespace millrace::board
