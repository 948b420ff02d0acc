#pragma once
// Named pipes (FIFOs) whose reader may be started at the same time as the program that writes.
#include <chrono>
#include <filesystem>

namespace millrace {

/// A descriptor for writing that does not block, closed by the caller; -1 with errno if it cannot
/// be opened, ENXIO if nobody reads it within `patience`. Where the caller may not read the pipe,
/// or the system has no inotify left, the reader must be there already.
int open_read_pipe(const std::filesystem::path& pipe, std::chrono::milliseconds patience);

}  // namespace millrace
