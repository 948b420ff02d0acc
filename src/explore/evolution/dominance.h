#pragma once
// Points that are compared by several objectives, all to be small.
#include <vector>

namespace millrace::explore {

using Point = std::vector<double>;

/// Nowhere worse, and better somewhere.
bool dominates(const Point& a, const Point& b);

/// Which points no other dominates, then which only those dominate, and so on: fast non-dominated
/// sorting (Deb, Pratap, Agarwal and Meyarivan 2002, section III-A).
std::vector<std::vector<std::size_t>> fronts_of(const std::vector<Point>& points);

/// How far the neighbours of each of a front's points are apart, as shares of the front's extent,
/// summed over the objectives; infinite at its ends (section III-B).
std::vector<double> crowding_distances(const std::vector<Point>& points,
                                       const std::vector<std::size_t>& front);

/// The volume that the points dominate, up to the reference: WFG (While, Bradstreet and Barone
/// 2012). Points that are not below the reference everywhere count nothing.
double hypervolume(std::vector<Point> points, const Point& reference);

}  // namespace millrace::explore
