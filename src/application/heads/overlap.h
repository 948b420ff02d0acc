#pragma once
// How much two boxes share, also where they are turned.
#include <array>

#include "application/detections.h"

namespace millrace::application {

/// In order around the box, in shares of the input; of a box that is not turned from its top left
/// corner, clockwise.
std::array<Point, 4> corners_of(const Candidate& box, const Size& input);

/// Intersection over union, 0 if both are empty. `input`: whose proportions turned boxes need.
double overlap_of(const Candidate& a, const Candidate& b, const Size& input);

}  // namespace millrace::application
