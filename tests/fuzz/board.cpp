#include "board/board_file.h"

#include <nlohmann/json.hpp>

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  return fuzz::attempt([&] {
    const board::Board board =
        board::parse_board(std::string(fuzz::text_of(data, size)), "fuzz.yaml");
    board::to_json(board);
  });
}
