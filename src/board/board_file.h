#pragma once
// Boards as YAML files (schemas/board.schema.json) that people write: docs/boards.md.
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "board/board.h"

namespace millrace::board {

/// InputError naming the file, the line, what was found and what was expected.
Board read_board(const std::filesystem::path& path);
Board parse_board(const std::string& content, const std::string& file);

/// What the file holds, keys in the order of the file.
nlohmann::ordered_json to_json(const Board& board);

/// Atomically. What is read back is equal.
void write_board(const std::filesystem::path& path, const Board& board);

}  // namespace millrace::board
