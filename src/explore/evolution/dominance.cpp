#include "explore/evolution/dominance.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

namespace millrace::explore {
namespace {

double box_of(const Point& point, const Point& reference) {
  double volume = 1;
  for (std::size_t i = 0; i < point.size(); ++i) volume *= reference[i] - point[i];
  return volume;
}

/// In two dimensions: a staircase. Sorted by the first objective.
double area_of(const std::vector<Point>& points, const Point& reference) {
  double area = 0, height = reference[1];
  for (const Point& point : points) {
    if (point[1] >= height) continue;
    area += (reference[0] - point[0]) * (height - point[1]);
    height = point[1];
  }
  return area;
}

/// Keeps the points that no other one dominates or, before it, equals.
void keep_first_front(std::vector<Point>& points) {
  std::ranges::sort(points);
  std::vector<Point> kept;  // none is dominated by a later one
  for (Point& point : points)
    if (std::ranges::none_of(
            kept, [&](const Point& other) { return other == point || dominates(other, point); }))
      kept.push_back(std::move(point));
  points = std::move(kept);
}

/// What each point adds to those behind it. Sorted, and no point dominates another one.
double volume_of(const std::vector<Point>& points, const Point& reference) {
  if (reference.size() == 2) return area_of(points, reference);
  double volume = 0;
  for (std::size_t p = 0; p < points.size(); ++p) {
    std::vector<Point> shared;
    for (std::size_t other = p + 1; other < points.size(); ++other) {
      Point& corner = shared.emplace_back(points[other]);
      for (std::size_t i = 0; i < corner.size(); ++i)
        corner[i] = std::max(corner[i], points[p][i]);
    }
    keep_first_front(shared);
    volume += box_of(points[p], reference) - volume_of(shared, reference);
  }
  return volume;
}

}  // namespace

bool dominates(const Point& a, const Point& b) {
  bool better = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    better = better || a[i] < b[i];
  }
  return better;
}

std::vector<std::vector<std::size_t>> fronts_of(const std::vector<Point>& points) {
  std::vector<std::vector<std::size_t>> dominated(points.size()), fronts;
  std::vector<std::size_t> by(points.size(), 0);  // how many of those left dominate it
  for (std::size_t a = 0; a < points.size(); ++a)
    for (std::size_t b = 0; b < points.size(); ++b) {
      if (!dominates(points[a], points[b])) continue;
      dominated[a].push_back(b);
      ++by[b];
    }
  std::vector<std::size_t> front;
  for (std::size_t p = 0; p < points.size(); ++p)
    if (by[p] == 0) front.push_back(p);
  while (!front.empty()) {
    std::vector<std::size_t> below;
    for (const std::size_t p : front)
      below.insert(below.end(), dominated[p].begin(), dominated[p].end());
    std::erase_if(below, [&](std::size_t p) { return --by[p] > 0; });
    fronts.push_back(std::exchange(front, std::move(below)));
  }
  return fronts;
}

std::vector<double> crowding_distances(const std::vector<Point>& points,
                                       const std::vector<std::size_t>& front) {
  std::vector<double> distances(front.size(), 0);
  std::vector<std::size_t> order(front.size());
  const std::size_t objectives = front.empty() ? 0 : points[front.front()].size();
  for (std::size_t o = 0; o < objectives; ++o) {
    const auto value = [&](std::size_t f) { return points[front[f]][o]; };
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, value);
    const double extent = value(order.back()) - value(order.front());
    distances[order.front()] = distances[order.back()] = std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; extent > 0 && i + 1 < order.size(); ++i)
      distances[order[i]] += (value(order[i + 1]) - value(order[i - 1])) / extent;
  }
  return distances;
}

double hypervolume(std::vector<Point> points, const Point& reference) {
  std::erase_if(points, [&](const Point& point) {
    return !std::ranges::equal(point, reference, std::ranges::less{});
  });
  keep_first_front(points);
  if (points.empty()) return 0;
  return reference.size() == 1 ? box_of(points.front(), reference) : volume_of(points, reference);
}

}  // namespace millrace::explore
