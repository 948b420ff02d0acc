#pragma once
// Where a picture lies in the input of a network.
#include <cstdint>

namespace millrace::application {

/// stretch: the picture fills the input; letterbox: it keeps its proportions, in the middle;
/// corner: the same, at the upper left.
enum class Fit { stretch, letterbox, corner };

struct Size {
  std::int64_t width = 0, height = 0;
  bool operator==(const Size&) const = default;
};

/// The picture's part of the input, in pixels of the input.
struct Placement {
  std::int64_t left = 0, top = 0;
  Size size;
};

/// Halves are rounded up; with Fit::corner parts of a pixel are cut off. So the pictures were
/// prepared with which the networks for each were trained: Ultralytics', YOLOX and SCRFD.
inline std::int64_t scaled_size(std::int64_t size, std::int64_t numerator, std::int64_t denominator,
                                Fit fit) {
  const std::int64_t half = fit == Fit::corner ? 0 : denominator;
  const std::int64_t scaled = (2 * size * numerator + half) / (2 * denominator);
  return scaled > 0 ? scaled : 1;
}

inline Placement place(const Size& picture, const Size& input, Fit fit) {
  if (fit == Fit::stretch) return {0, 0, input};
  Size size = input;
  if (input.width * picture.height < input.height * picture.width)
    size.height = scaled_size(picture.height, input.width, picture.width, fit);
  else
    size.width = scaled_size(picture.width, input.height, picture.height, fit);
  if (fit == Fit::corner) return {0, 0, size};
  return {(input.width - size.width) / 2, (input.height - size.height) / 2, size};
}

}  // namespace millrace::application
