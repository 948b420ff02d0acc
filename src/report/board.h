#pragma once
// What a board file says, for people.
#include <string>

#include "board/board.h"

namespace millrace::report {

/// Processors, rates, memories, power, limits and the sources of all numbers. A "~" stands before
/// a number that is estimated.
std::string board_text(const board::Board& board);

/// "6 cpu, 1 gpu".
std::string processors_text(const board::Board& board);

}  // namespace millrace::report
