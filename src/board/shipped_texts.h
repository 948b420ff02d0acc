#pragma once
// The files of the folder boards/; the source is made of them when the library is built.
#include <string_view>
#include <vector>

namespace millrace::board {

struct ShippedText {
  std::string_view name;  // "jetson-tx2"
  std::string_view text;
};

std::vector<ShippedText> shipped_texts();

}  // namespace millrace::board
