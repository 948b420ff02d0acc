// A board, and what a network would take on it.
#include "board/board_file.h"

#include <nlohmann/json.hpp>

#include "formats/read.h"
#include "fuzz.h"
#include "profile/cost_model.h"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  static const network::Network network =
      formats::read_network(MILLRACE_SOURCE_DIR "/models/digits.onnx");
  return fuzz::attempt([&] {
    const board::Board board =
        board::parse_board(std::string(fuzz::text_of(data, size)), "fuzz.yaml");
    board::to_json(board);
    board::hash_of(board);
    for (const auto precision :
         {board::Precision::f32, board::Precision::f16, board::Precision::int8})
      fuzz::attempt([&] { profile::modelled(network, board, {precision}); });
  });
}
