#include "api/application/compare_findings.h"

#include <algorithm>
#include <cmath>

namespace millrace::api {
namespace {

using application::Detection;
using application::Findings;

constexpr double near = 1e-3;

bool is_near(double a, double b) { return std::abs(a - b) <= near * std::max(1.0, std::abs(a)); }

bool is_same(const Detection& a, const Detection& b) {
  const double pixel = 1;
  const auto at = [&](double x, double y) { return std::abs(x - y) <= pixel; };
  return a.label == b.label && is_near(a.probability, b.probability) && at(a.left, b.left) &&
         at(a.top, b.top) && at(a.width, b.width) && at(a.height, b.height);
}

bool is_same_class(const application::Ranked& a, const application::Ranked& b) {
  return a.label == b.label && is_near(a.value, b.value);
}

/// Each of them has one of its own among the others; nearly equal ones may stand in another order.
bool are_same(const std::vector<Detection>& a, std::vector<Detection> b) {
  if (a.size() != b.size()) return false;
  for (const Detection& detection : a) {
    const auto found = std::find_if(
        b.begin(), b.end(), [&](const Detection& other) { return is_same(detection, other); });
    if (found == b.end()) return false;
    b.erase(found);
  }
  return true;
}

}  // namespace

bool are_same(const Findings& a, const Findings& b) {
  if (a.detections.has_value() != b.detections.has_value()) return false;
  if (a.classes.has_value() != b.classes.has_value()) return false;
  if (a.detections && !are_same(*a.detections, *b.detections)) return false;
  return !a.classes || std::equal(a.classes->begin(), a.classes->end(), b.classes->begin(),
                                  b.classes->end(), is_same_class);
}

}  // namespace millrace::api
