#pragma once
// Where a picture lies in the input of a network.
#include <cstdint>

namespace millrace::application {

/// stretch: the picture fills the input; letterbox: it keeps its proportions, in the middle.
enum class Fit { stretch, letterbox };

struct Size {
  std::int64_t width = 0, height = 0;
  bool operator==(const Size&) const = default;
};

/// The picture's part of the input, in pixels of the input.
struct Placement {
  std::int64_t left = 0, top = 0;
  Size size;
};

inline Placement place(const Size& picture, const Size& input, Fit fit) {
  if (fit == Fit::stretch) return {0, 0, input};
  Size size = input;
  if (input.width * picture.height < input.height * picture.width)
    size.height = picture.height * input.width / picture.width;
  else
    size.width = picture.width * input.height / picture.height;
  size.width = size.width > 0 ? size.width : 1;
  size.height = size.height > 0 ? size.height : 1;
  return {(input.width - size.width) / 2, (input.height - size.height) / 2, size};
}

}  // namespace millrace::application
