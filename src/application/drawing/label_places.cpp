#include "application/drawing/label_places.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace millrace::application {

namespace {

bool is_free(const cv::Rect& place, const std::vector<cv::Rect>& taken) {
  return std::ranges::none_of(taken,
                              [&](const cv::Rect& other) { return (place & other).area() > 0; });
}

}  // namespace

/// A label that is larger than the picture begins at its corner.
cv::Rect LabelPlaces::within(cv::Point corner, cv::Size label) const {
  return {std::clamp(corner.x, 0, std::max(0, picture_.width - label.width)),
          std::clamp(corner.y, 0, std::max(0, picture_.height - label.height)), label.width,
          label.height};
}

std::vector<cv::Rect> LabelPlaces::in_row(int top, int height) const {
  std::vector<cv::Rect> row;
  for (const cv::Rect& other : taken_)
    if (other.y < top + height && top < other.y + other.height) row.push_back(other);
  return row;
}

/// Rows from the corner's on, upwards and downwards; in each from one label's edge to the next.
std::optional<cv::Rect> LabelPlaces::nearest(cv::Point corner, cv::Size label) const {
  std::optional<cv::Rect> best;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  const int step = std::max(1, label.height / 2), rows = picture_.height / step + 1;
  for (int i = 0; i <= 2 * rows; ++i) {
    const std::int64_t dy = (i % 2 == 0 ? 1 : -1) * static_cast<std::int64_t>((i + 1) / 2) * step;
    if (dy * dy >= least) break;
    const int top = within({0, corner.y}, label).y + static_cast<int>(dy);
    if (top < 0 || top + label.height > picture_.height) continue;
    const std::vector<cv::Rect> row = in_row(top, label.height);
    std::vector<int> edges{corner.x};
    for (const cv::Rect& other : row) {
      edges.push_back(other.x + other.width);
      edges.push_back(other.x - label.width);
    }
    for (const int x : edges) {
      const cv::Rect place = within({x, top}, label);
      const std::int64_t dx = place.x - corner.x;
      if (dx * dx + dy * dy >= least || !is_free(place, row)) continue;
      best = place;
      least = dx * dx + dy * dy;
    }
  }
  return best;
}

std::optional<cv::Rect> LabelPlaces::take(const cv::Rect& box, cv::Size label) {
  const int right = box.x + box.width, bottom = box.y + box.height;
  const std::array<cv::Point, 8> corners{{{box.x, box.y - label.height},
                                          {box.x, box.y},
                                          {right - label.width, box.y - label.height},
                                          {box.x, bottom},
                                          {box.x, bottom - label.height},
                                          {right - label.width, bottom},
                                          {right, box.y},
                                          {box.x - label.width, box.y}}};
  for (const cv::Point& corner : corners) {
    const cv::Rect place = within(corner, label);
    if (!is_free(place, taken_)) continue;
    taken_.push_back(place);
    return place;
  }
  const auto place = nearest(box.tl(), label);
  if (place) taken_.push_back(*place);
  return place;
}

}  // namespace millrace::application
