#pragma once
// Cores that the kernel keeps free of other threads.
#include <filesystem>
#include <vector>

namespace millrace::board {

/// Cores of the kernel's isolcpus= and of isolated cpusets: only threads that are bound to them run
/// there. Ascending. `root`: where the system's /sys lies.
std::vector<int> isolated_cores(const std::filesystem::path& root = "/");

}  // namespace millrace::board
