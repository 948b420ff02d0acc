#pragma once
// Commands that are done on another board.
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace millrace::cli {

/// With --on among the words, their verb is done on the board that it names instead of here.
void do_on_board(CLI::App& app, int& exit_code, const std::vector<std::string>& words);

}  // namespace millrace::cli
