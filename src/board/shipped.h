#pragma once
// The boards that come with Millrace.
#include <string>
#include <vector>

#include "board/board.h"

namespace millrace::board {

/// By which `find_board` knows them: "jetson-tx2".
std::vector<std::string> shipped_boards();

/// A shipped board by its name, else the board file of that path. InputError lists the names there
/// are, or says what is wrong with the file.
Board find_board(const std::string& name_or_path);

}  // namespace millrace::board
