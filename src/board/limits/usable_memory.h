#pragma once
// How much memory this process may use.
#include <filesystem>
#include <string>

#include "base/units.h"
#include "board/board.h"

namespace millrace::board {

/// The least of what the machine has, what the control groups of this process allow (memory, of
/// version 1 or 2), and its limits RLIMIT_AS and RLIMIT_DATA. `root`: where /proc and /sys lie.
Bytes usable_memory(const std::filesystem::path& root = "/");

/// Adds a device that an engine reaches, with its processors. `memory`: of the board behind a link
/// that it is on, which devices of the same space share; 0: unknown.
void add_reached(Board& board, Device device, Bytes memory);

/// The main memory in which the processor works; null: the board does not say.
const Memory* main_memory_of(const Board& board, const Processor& processor);

}  // namespace millrace::board
