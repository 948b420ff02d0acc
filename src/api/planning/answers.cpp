#include "api/planning/answers.h"

#include <algorithm>
#include <memory>

#include "application/heads/detect.h"

namespace millrace::api {
namespace {

using application::Detection;
using application::Processing;
using Detections = std::vector<Detection>;
using Outputs = profile::LossMeter::Outputs;

/// Of a detector, of what it finds at half of the threshold.
struct Found {
  std::shared_ptr<const Processing> detector;  // shared with what compares by it
  double threshold = 0;
  std::vector<Detections> frames;
};

Detections objects_in(const Processing& detector, std::span<const network::Array> outputs) {
  return detector.after({}, outputs).detections.value_or(Detections{});
}

double area_of(double width, double height) { return std::max(width, 0.) * std::max(height, 0.); }

/// Intersection over union.
double overlap(const Detection& a, const Detection& b) {
  const double width = std::min(a.left + a.width, b.left + b.width) - std::max(a.left, b.left);
  const double height = std::min(a.top + a.height, b.top + b.height) - std::max(a.top, b.top);
  const double both = area_of(width, height);
  const double all = area_of(a.width, a.height) + area_of(b.width, b.height) - both;
  return all > 0 ? both / all : 0;
}

/// Takes the object away that overlaps most, if one does and is about as probable.
bool take_same(const Detection& object, Detections& others) {
  constexpr double enough = 0.5, as_probable = 0.75;
  auto best = others.end();
  double most = enough;
  for (auto other = others.begin(); other != others.end(); ++other) {
    if (other->label != object.label) continue;
    if (other->probability < as_probable * object.probability) continue;
    const double share = overlap(object, *other);
    if (share >= most) most = share, best = other;
  }
  if (best == others.end()) return false;
  others.erase(best);
  return true;
}

std::int64_t missing(const Detections& objects, Detections others, double threshold) {
  std::int64_t count = 0;
  for (const Detection& object : objects)
    if (object.probability > threshold && !take_same(object, others)) ++count;
  return count;
}

std::int64_t count_above(const Detections& objects, double threshold) {
  return std::count_if(objects.begin(), objects.end(),
                       [&](const Detection& each) { return each.probability > threshold; });
}

/// Objects that are as large as objects are: a head that reads other outputs finds specks.
std::int64_t plausible(const Found& found) {
  constexpr double least = 4;  // pixels
  std::int64_t count = 0;
  for (const Detections& objects : found.frames)
    count += std::count_if(objects.begin(), objects.end(), [&](const Detection& each) {
      return each.probability > found.threshold && each.width >= least && each.height >= least;
    });
  return count;
}

}  // namespace

profile::CompareAnswers object_answers(const network::Network& network,
                                       const std::vector<Outputs>& expected) {
  application::Application application;
  application.postprocess.kind = "detect";
  auto& settings = application.postprocess.detection;
  const double threshold = settings.threshold;
  settings.threshold = threshold / 2;
  auto best = std::make_shared<Found>();
  for (std::unique_ptr<Processing>& detector : application::detectors(application, network)) {
    Found found{std::move(detector), threshold, {}};
    for (const Outputs& outputs : expected)
      found.frames.push_back(objects_in(*found.detector, outputs));
    if (plausible(found) > plausible(*best)) *best = std::move(found);
  }
  if (plausible(*best) == 0) return {};
  return [best](std::size_t frame, std::span<const network::Array> outputs) {
    const Detections& before = best->frames[frame];
    const Detections now = objects_in(*best->detector, outputs);
    const std::int64_t lost = missing(before, now, best->threshold);
    const std::int64_t invented = missing(now, before, best->threshold);
    return profile::Answers{count_above(before, best->threshold) + invented, lost + invented};
  };
}

}  // namespace millrace::api
