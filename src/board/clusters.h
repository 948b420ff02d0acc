#pragma once
// Cores of unlike kinds and clocks: what the system tells of them, and the devices that they form.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "board/board.h"
#include "board/device.h"

namespace millrace::board {

/// A core as /sys and /proc/cpuinfo tell. What they do not tell is 0 or empty.
struct CoreFacts {
  int core = 0;                        // the operating system's number
  std::string model = {};              // "Cortex-A55"
  std::int64_t capacity = 0;           // the work it does in a second; the fastest core's is 1024
  std::vector<Megahertz> clocks = {};  // ascending
  /// The first of the cores that share its clock, if there are others than its hardware threads.
  std::optional<int> clock_of = {};
  int kind = 0;  // 1: a fast core beside Intel's small ones (perf's device cpu_core)
};

/// this_machine(), as the files below `root` tell: the folder that holds proc and sys.
Board machine_at(const std::filesystem::path& root);

/// Empty if there is no such file.
std::string first_line(const std::filesystem::path& path);
/// "0-3,6" of most files of the system, and "0 1 2 3" of those of cpufreq. Empty if it is neither.
std::vector<int> cores_in_file(const std::filesystem::path& path);

/// Facts of these cores. `root`: the folder that holds proc and sys.
std::vector<CoreFacts> facts_of_cores(const std::vector<int>& cores,
                                      const std::filesystem::path& root = "/");

/// Cores that are alike and share a clock are one device: "cpu", or "cpu0", "cpu1", the slow ones
/// first. Cores with a clock each are one device if they are alike. `processors`: one core each,
/// in the order of the facts. `model`: of cores whose own is unknown.
std::vector<Device> devices_of_cores(const std::vector<Processor>& processors,
                                     const std::vector<CoreFacts>& facts, const std::string& model);

/// For each CPU device, its cores that the board's processors have, as one processor. Cores of
/// unlike devices never work on one layer together: the slow ones would keep the fast ones waiting.
std::vector<Processor> joined_clusters(const Board& board);

}  // namespace millrace::board
