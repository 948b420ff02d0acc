#pragma once
// What a board file says, for people and for programs.
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "board/board.h"

namespace millrace::present {

/// Processors, rates, memories, power, limits and the sources of all numbers. A "~" stands before
/// a number that is estimated.
std::string board_text(const board::Board& board);

/// "6 cpu, 1 gpu".
std::string processors_text(const board::Board& board);

nlohmann::json processor_json(const board::Processor& processor);

/// The content of its file, and what follows from it.
nlohmann::json board_fields(const board::Board& board);

/// Name, processors and caches of this machine.
std::string machine_text(const board::Board& board);

}  // namespace millrace::present
