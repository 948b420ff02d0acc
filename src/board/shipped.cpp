#include "board/shipped.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "board/board_file.h"
#include "board/joined/joined_boards.h"
#include "board/shipped_texts.h"

namespace millrace::board {

std::vector<std::string> shipped_boards() {
  std::vector<std::string> names;
  for (const ShippedText& shipped : shipped_texts()) names.emplace_back(shipped.name);
  return names;
}

Board find_board(const std::string& name_or_path) {
  std::vector<std::string_view> names;
  for (const ShippedText& shipped : shipped_texts()) {
    if (shipped.name == name_or_path)
      return parse_board(std::string(shipped.text), name_or_path + ".yaml");
    names.push_back(shipped.name);
  }
  std::error_code ignored;
  if (std::filesystem::exists(name_or_path, ignored)) {
    const YamlNode file = read_yaml(name_or_path);
    const YamlView view(file, name_or_path);
    return is_joined_boards(view) ? joined(read_joined_boards(view), find_board)
                                  : read_board(name_or_path);
  }
  throw InputError(name_or_path.empty() ? "''" : name_or_path,
                   fmt::format("is neither a file nor a shipped board; those are {}{}",
                               fmt::join(names, ", "), did_you_mean(name_or_path, names)));
}

}  // namespace millrace::board
