#include "explore/evolution/dominance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>

#include "base/random.h"

namespace millrace::explore {
namespace {

std::vector<Point> random_points(Random& random, std::size_t count, std::size_t objectives) {
  std::vector<Point> points(count, Point(objectives));
  for (Point& point : points)
    for (double& value : point) value = static_cast<double>(random.below(6));
  return points;
}

/// The cells of a grid of ones between the origin and (6, 6, ...) that some point dominates.
double cells_dominated(const std::vector<Point>& points, std::size_t objectives) {
  double cells = 0;
  const auto all = static_cast<std::size_t>(std::pow(6, objectives));
  for (std::size_t cell = 0; cell < all; ++cell) {
    Point corner;
    for (std::size_t o = 0, rest = cell; o < objectives; ++o, rest /= 6)
      corner.push_back(static_cast<double>(rest % 6));
    cells += std::ranges::any_of(points, [&](const Point& point) {
      return std::ranges::equal(point, corner, std::ranges::less_equal{});
    });
  }
  return cells;
}

TEST(Hypervolume, counts_the_cells_that_random_points_dominate) {
  Random random(3);
  for (std::size_t objectives = 1; objectives <= 4; ++objectives)
    for (int i = 0; i < 25; ++i) {
      const auto points = random_points(random, 1 + random.below(12), objectives);
      EXPECT_DOUBLE_EQ(hypervolume(points, Point(objectives, 6)),
                       cells_dominated(points, objectives))
          << objectives << " objectives, set " << i;
    }
}

TEST(Hypervolume, of_points_that_do_not_reach_the_reference_is_none) {
  EXPECT_EQ(hypervolume({}, {1, 1}), 0);
  EXPECT_EQ(hypervolume({{1, 0}, {0, 1}, {2, -5}}, {1, 1}), 0);
  EXPECT_EQ(hypervolume({{0.5, 0.5}, {1, 0}}, {1, 1}), 0.25);
}

/// The front of ZDT1 is f2 = 1 - sqrt(f1), that of ZDT2 f2 = 1 - f1^2: 2/3 and 1/3 of the unit
/// square are above them.
TEST(Hypervolume, of_the_fronts_of_zdt1_and_zdt2_is_their_integral) {
  std::vector<Point> one, two;
  for (int i = 0; i < 5000; ++i) {
    const double x = i / 5000.0;
    one.push_back({x, 1 - std::sqrt(x)});
    two.push_back({x, 1 - x * x});
  }
  EXPECT_NEAR(hypervolume(one, {1, 1}), 2.0 / 3, 2e-4);
  EXPECT_NEAR(hypervolume(two, {1, 1}), 1.0 / 3, 2e-4);
}

/// The front of DTLZ2 is an eighth of the unit sphere (Deb, Thiele, Laumanns and Zitzler 2002).
TEST(Hypervolume, of_the_front_of_dtlz2_is_what_the_sphere_leaves_of_the_cube) {
  constexpr int steps = 60;
  std::vector<Point> points;
  for (int i = 0; i <= steps; ++i)
    for (int j = 0; j <= steps; ++j) {
      const double a = i * std::numbers::pi / 2 / steps, b = j * std::numbers::pi / 2 / steps;
      points.push_back({std::cos(a) * std::cos(b), std::cos(a) * std::sin(b), std::sin(a)});
    }
  const double expected = 1 - std::numbers::pi / 6, found = hypervolume(points, {1, 1, 1});
  EXPECT_LT(found, expected);
  EXPECT_GT(found, expected - 0.02);
}

TEST(Fronts, peel_off_what_nothing_left_dominates) {
  Random random(5);
  for (int i = 0; i < 50; ++i) {
    const auto points = random_points(random, 1 + random.below(30), 2 + random.below(3));
    std::vector<std::size_t> left(points.size());
    std::iota(left.begin(), left.end(), std::size_t{0});
    const auto is_dominated = [&](std::size_t p) {
      return std::ranges::any_of(left, [&](auto q) { return dominates(points[q], points[p]); });
    };
    for (std::vector<std::size_t> front : fronts_of(points)) {
      std::vector<std::size_t> expected = left;
      std::erase_if(expected, is_dominated);
      std::ranges::sort(front);
      EXPECT_EQ(front, expected);
      std::erase_if(left, [&](auto p) { return std::ranges::count(front, p) > 0; });
    }
    EXPECT_TRUE(left.empty());
  }
}

TEST(Crowding, is_the_way_around_the_cuboid_of_the_neighbours) {
  const std::vector<Point> points{{0, 10}, {5, 5}, {1, 8}, {10, 0}, {99, 99}};
  const double infinite = std::numeric_limits<double>::infinity();
  const std::vector<double> expected{infinite, 0.9 + 0.8, 0.5 + 0.5, infinite};
  const std::vector<double> distances = crowding_distances(points, {0, 1, 2, 3});
  ASSERT_EQ(distances.size(), expected.size());
  for (std::size_t p = 0; p < expected.size(); ++p) EXPECT_DOUBLE_EQ(distances[p], expected[p]);
  EXPECT_EQ(crowding_distances(points, {4}), std::vector{infinite});
}

}  // namespace
}  // namespace millrace::explore
