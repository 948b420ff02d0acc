#pragma once
// From shares of the network's input to pixels of the picture in it.
#include <algorithm>
#include <array>

#include "application/heads/overlap.h"

namespace millrace::application {

/// A picture that lies at `placement` in the input.
struct View {
  Size input;
  Placement placement;
  Size picture;

  double across() const { return ratio(picture.width, placement.size.width); }
  double down() const { return ratio(picture.height, placement.size.height); }

  Point to_picture(const Point& share) const {
    const auto wide = static_cast<double>(input.width), high = static_cast<double>(input.height);
    return {(share.x * wide - static_cast<double>(placement.left)) * across(),
            (share.y * high - static_cast<double>(placement.top)) * down()};
  }
  /// The other way.
  Point to_share(const Point& pixel) const {
    const auto wide = static_cast<double>(input.width), high = static_cast<double>(input.height);
    return {(pixel.x / across() + static_cast<double>(placement.left)) / wide,
            (pixel.y / down() + static_cast<double>(placement.top)) / high};
  }

  /// What of the box lies in the picture. A turned box as its corners, which may lie outside, and
  /// the upright box around them.
  Detection detection(const Candidate& box) const {
    Detection result{box.label, box.probability};
    if (box.angle == 0) {
      const Point first = within({box.x - box.width / 2, box.y - box.height / 2});
      const Point last = within({box.x + box.width / 2, box.y + box.height / 2});
      result.left = first.x;
      result.top = first.y;
      result.width = last.x - first.x;
      result.height = last.y - first.y;
      return result;
    }
    for (const Point& share : corners_of(box, input)) result.corners.push_back(to_picture(share));
    const auto [left, right] = std::ranges::minmax(result.corners, {}, &Point::x);
    const auto [top, bottom] = std::ranges::minmax(result.corners, {}, &Point::y);
    result.left = left.x;
    result.top = top.y;
    result.width = right.x - left.x;
    result.height = bottom.y - top.y;
    return result;
  }

 private:
  /// The nearest point of the picture.
  Point within(const Point& share) const {
    const Point pixel = to_picture(share);
    return {std::clamp(pixel.x, 0.0, static_cast<double>(picture.width)),
            std::clamp(pixel.y, 0.0, static_cast<double>(picture.height))};
  }
  static double ratio(std::int64_t a, std::int64_t b) {
    return static_cast<double>(a) / static_cast<double>(b);
  }
};

/// False for a box that lies outside of the picture.
inline bool has_area(const Detection& box) { return box.width > 0 && box.height > 0; }

}  // namespace millrace::application
