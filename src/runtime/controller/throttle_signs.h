#pragma once
// Whether the system slows processors down, as they are hot or draw too much.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "board/board.h"

namespace millrace::runtime {

/// Looks at cooling devices that are at work, at Intel's counters of throttled cores, and at limits
/// of clocks that somebody else lowered. One thread.
class ThrottleSigns {
 public:
  /// `root`: where the system shows its devices.
  ThrottleSigns(const std::vector<board::Device>& devices, const std::filesystem::path& root);

  bool is_empty() const { return signs_.empty(); }
  /// What is seen now, for people; empty: nothing. Limits count from when this process last set
  /// clocks, for the `times_set`-th time.
  std::string look(std::uint64_t times_set);

 private:
  enum class Kind { state, counter, limit };
  struct Sign {
    Kind kind;
    std::filesystem::path file;
    std::string text;
    long long before;  // of a counter or limit
  };

  void add_cooling(const board::Device& device, const std::filesystem::path& root);
  void add_counters(const board::Device& device, const std::filesystem::path& root);
  void add_limits(const board::Device& device, const std::filesystem::path& root);
  static bool is_seen(Sign& sign, bool is_new);

  std::vector<Sign> signs_;
  std::uint64_t times_set_ = 0;
};

}  // namespace millrace::runtime
