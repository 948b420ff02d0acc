#include "application/heads/overlap.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace millrace::application {
namespace {

using Polygon = std::vector<Point>;

double shared_length(double a, double a_length, double b, double b_length) {
  const double low = std::max(a - a_length / 2, b - b_length / 2);
  const double high = std::min(a + a_length / 2, b + b_length / 2);
  return std::max(0.0, high - low);
}

/// Above 0 on the inner side of the edge from `from` to `to` of a polygon whose corners go
/// clockwise in a picture.
double side_of(const Point& from, const Point& to, const Point& point) {
  return (to.x - from.x) * (point.y - from.y) - (to.y - from.y) * (point.x - from.x);
}

/// What of the polygon lies on the inner side of the edge.
Polygon clipped(const Polygon& polygon, const Point& from, const Point& to) {
  Polygon result;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Point& here = polygon[i];
    const Point& next = polygon[(i + 1) % polygon.size()];
    const double a = side_of(from, to, here), b = side_of(from, to, next);
    if (a >= 0) result.push_back(here);
    if ((a >= 0) == (b >= 0)) continue;
    const double share = a / (a - b);
    result.push_back({here.x + share * (next.x - here.x), here.y + share * (next.y - here.y)});
  }
  return result;
}

double area_of(const Polygon& polygon) {
  double twice = 0;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Point& here = polygon[i];
    const Point& next = polygon[(i + 1) % polygon.size()];
    twice += here.x * next.y - next.x * here.y;
  }
  return std::abs(twice) / 2;
}

double shared_area(const Candidate& a, const Candidate& b, const Size& input) {
  if (a.angle == 0 && b.angle == 0)
    return shared_length(a.x, a.width, b.x, b.width) * shared_length(a.y, a.height, b.y, b.height);
  const std::array<Point, 4> of_a = corners_of(a, input), of_b = corners_of(b, input);
  Polygon shared(of_a.begin(), of_a.end());
  for (std::size_t i = 0; i < of_b.size() && !shared.empty(); ++i)
    shared = clipped(shared, of_b[i], of_b[(i + 1) % of_b.size()]);
  return area_of(shared);
}

}  // namespace

std::array<Point, 4> corners_of(const Candidate& box, const Size& input) {
  const auto wide = static_cast<double>(input.width), high = static_cast<double>(input.height);
  const double cosine = std::cos(box.angle), sine = std::sin(box.angle);
  const double half_width = box.width * wide / 2, half_height = box.height * high / 2;
  const auto corner = [&](double across, double down) {
    const double x = across * half_width, y = down * half_height;
    return Point{box.x + (x * cosine - y * sine) / wide, box.y + (x * sine + y * cosine) / high};
  };
  return {corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)};
}

double overlap_of(const Candidate& a, const Candidate& b, const Size& input) {
  const double both = shared_area(a, b, input);
  const double either = a.width * a.height + b.width * b.height - both;
  return either > 0 ? both / either : 0;
}

}  // namespace millrace::application
