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
  int kind = 0;  // hwloc's number for cores like this one
};

/// Of these cores, but for their kind. `root`: the folder that holds proc and sys.
std::vector<CoreFacts> facts_of_cores(const std::vector<int>& cores,
                                      const std::filesystem::path& root = "/");

/// Cores that are alike and share a clock are one device: "cpu", or "cpu0", "cpu1", the slow ones
/// first. Cores with a clock each are one device if they are alike. `processors`: one core each,
/// in the order of the facts. `model`: of cores whose own is unknown.
std::vector<Device> devices_of_cores(const std::vector<Processor>& processors,
                                     const std::vector<CoreFacts>& facts, const std::string& model);

/// Of each CPU device, its cores that the board's processors have, as one processor. Cores of
/// unlike devices never work on one layer together: the slow ones would keep the fast ones waiting.
std::vector<Processor> joined_clusters(const Board& board);

}  // namespace millrace::board
