#include "product/planning/answers.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "application/heads/detect.h"

namespace millrace::product {
namespace {

using application::Detection;
using application::Processing;
using Detections = std::vector<Detection>;
using Outputs = profile::LossMeter::Outputs;

/// What a detector finds at half of the threshold.
struct Found {
  std::shared_ptr<const Processing> detector;  // shared with what compares by it
  std::vector<Detections> frames;              // without specks
  std::int64_t objects = 0, specks = 0;

  double share() const {
    return static_cast<double>(objects) /
           static_cast<double>(std::max<std::int64_t>(objects + specks, 1));
  }
};

/// Objects are larger, but a head that reads outputs of another one finds boxes without area.
bool is_speck(const Detection& object) {
  constexpr double least = 4;  // pixels
  return !(object.width >= least && object.height >= least);
}

Detections objects_in(const Processing& detector, std::span<const network::Array> outputs) {
  return detector.after({}, outputs).detections.value_or(Detections{});
}

Found found_by(std::unique_ptr<Processing> detector, const std::vector<Outputs>& expected) {
  Found found{std::move(detector), {}};
  for (const Outputs& outputs : expected) {
    Detections& objects = found.frames.emplace_back(objects_in(*found.detector, outputs));
    found.specks += static_cast<std::int64_t>(std::erase_if(objects, is_speck));
    found.objects += static_cast<std::int64_t>(objects.size());
  }
  return found;
}

/// Boxes of the right head have an area and lie on each other, so that few are left.
bool fits_better(const Found& a, const Found& b) {
  if (a.objects == 0 || b.objects == 0) return a.objects > 0;
  return a.share() != b.share() ? a.share() > b.share() : a.objects < b.objects;
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
    Found found = found_by(std::move(detector), expected);
    if (fits_better(found, *best)) *best = std::move(found);
  }
  const auto count = [threshold](const Detections& objects) {
    return count_above(objects, threshold);
  };
  if (std::none_of(best->frames.begin(), best->frames.end(), count)) return {};
  return [best, threshold, count](std::size_t frame, std::span<const network::Array> outputs) {
    const Detections& before = best->frames[frame];
    Detections now = objects_in(*best->detector, outputs);
    std::erase_if(now, is_speck);
    const std::int64_t lost = missing(before, now, threshold);
    const std::int64_t invented = missing(now, before, threshold);
    return profile::Answers{count(before) + invented, lost + invented};
  };
}

namespace {

constexpr const char* outputs_as_in_float32 = "agreement of the outputs with float32's";

/// One value for each class, or integers that are the answer.
bool says_one_class(const Outputs& outputs) {
  if (outputs.empty() || outputs.front().type != network::DataType::float32) return true;
  const network::Shape& shape = outputs.front().shape;
  return std::count_if(shape.begin(), shape.end(), [](std::int64_t size) { return size != 1; }) < 2;
}

double distance_of(const network::Array& expected, const network::Array& found) {
  if (expected.type != network::DataType::float32) return 0;
  const auto a = expected.values<float>(), b = found.values<float>();
  double difference = 0, all = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double off = double{a[i]} - double{b[i]};
    difference += off * off;
    all += double{a[i]} * double{a[i]};
  }
  const double distance = difference == 0 ? 0 : std::sqrt(difference / std::max(all, 1e-30));
  return std::isfinite(distance) ? std::min(distance, 1.0) : 1;
}

/// Sums the distances of one measurement; the worst output of a frame counts.
struct OutputsBeside {
  const profile::LossMeter* meter;
  double sum = 0;

  profile::Answers compare(std::size_t frame, std::span<const network::Array> found) {
    if (frame == 0) sum = 0;
    const Outputs& expected = meter->expected()[frame];
    double worst = 0;
    for (std::size_t i = 0; i < expected.size(); ++i)
      worst = std::max(worst, distance_of(expected[i], found[i]));
    sum += worst;
    return {1, worst > 0 ? 1 : 0};
  }
  void conclude(profile::Loss& loss) const {
    loss.measure = outputs_as_in_float32;
    loss.fall = sum / static_cast<double>(loss.frames);
  }
};

}  // namespace

void compare_by_answers(profile::LossMeter& meter, const network::Network& network) {
  if (profile::CompareAnswers objects = object_answers(network, meter.expected())) {
    meter.compare_by(std::move(objects));
    return;
  }
  if (says_one_class(meter.expected().front())) return;
  auto beside = std::make_shared<OutputsBeside>(OutputsBeside{&meter});
  // Shared by the two functions of the meter.
  meter.compare_by(
      [beside](std::size_t frame, auto found) { return beside->compare(frame, found); },
      [beside](profile::Loss& loss) { beside->conclude(loss); });
}

}  // namespace millrace::product
