#include "application/accuracy/compare_findings.h"

#include <algorithm>
#include <cmath>

namespace millrace::application {
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

template <class T, class IsSame>
bool are_same_lists(const std::optional<std::vector<T>>& a, const std::optional<std::vector<T>>& b,
                    const IsSame& is_same) {
  if (!a || !b) return a.has_value() == b.has_value();
  return std::equal(a->begin(), a->end(), b->begin(), b->end(), is_same);
}

/// But for some pixels on the borders of their classes.
bool are_same_maps(const application::ClassMap& a, const application::ClassMap& b) {
  if (a.width != b.width || a.height != b.height) return false;
  std::size_t different = 0;
  for (std::size_t i = 0; i < a.classes.size(); ++i)
    if (a.classes[i] != b.classes[i]) ++different;
  return static_cast<double>(different) <= near * static_cast<double>(a.classes.size());
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

/// They are around detections that are the same within a pixel, so they may differ by one.
bool are_same_crops(const std::vector<application::CropFindings>& a,
                    const std::vector<application::CropFindings>& b) {
  const auto is_same_text = [](const auto& x, const auto& y) {
    return x.has_value() == y.has_value() && (!x || x->text == y->text);
  };
  return std::ranges::equal(a, b, [&](const auto& x, const auto& y) {
    return are_same_lists(x.classes, y.classes, is_same_class) &&
           are_same_lists(x.embedding, y.embedding, is_near) && is_same_text(x.text, y.text);
  });
}

}  // namespace

bool are_same(const Findings& a, const Findings& b) {
  if (a.detections.has_value() != b.detections.has_value()) return false;
  if (a.detections && !are_same(*a.detections, *b.detections)) return false;
  if (a.map.has_value() != b.map.has_value()) return false;
  if (a.map && !are_same_maps(*a.map, *b.map)) return false;
  if (a.text.has_value() != b.text.has_value()) return false;
  if (a.text && a.text->text != b.text->text) return false;
  if (!are_same_crops(a.crops, b.crops)) return false;
  return are_same_lists(a.classes, b.classes, is_same_class) &&
         are_same_lists(a.embedding, b.embedding, is_near);
}

}  // namespace millrace::application
