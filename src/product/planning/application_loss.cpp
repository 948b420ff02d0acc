#include "product/planning/application_loss.h"

#include <fmt/format.h>

#include <algorithm>

#include "application/accuracy/accuracy.h"
#include "application/accuracy/improbable.h"
#include "base/error.h"

namespace millrace::product {
namespace {

using application::AccuracyMeter;
using application::AveragePrecision;
using application::Detection;
using application::Examined;
using application::Findings;
using profile::Answers;
using profile::Loss;
using Outputs = profile::LossMeter::Outputs;

constexpr const char* beside_float32 = "average precision at 0.5 beside float32's boxes";
constexpr const char* beside_truth = "average precision beside ground truth";
constexpr const char* class_accuracy = "accuracy beside ground truth";
constexpr const char* same_classes = "first classes as in float32";
constexpr const char* same_pixels = "pixels of the same class as in float32";
constexpr const char* same_lines = "lines as in float32";

/// What the application finds in one frame's outputs, with improbable boxes.
class Finder {
 public:
  explicit Finder(const ApplicationSamples& samples) : samples_(&samples) {
    const application::LoadedApplication& loaded = *samples.application;
    after_ = application::make_with_improbable(loaded.application, loaded.loaded->network,
                                               loaded.plugins.registry());
  }
  Findings at(std::size_t frame, std::span<const network::Array> outputs) const {
    return after_->after(samples_->pictures[frame], outputs);
  }
  const ApplicationSamples& samples() const { return *samples_; }

 private:
  const ApplicationSamples* samples_;
  std::shared_ptr<const application::Processing> after_;  // shared by copies of the finder
};

std::vector<Findings> found_in(const Finder& finder, const std::vector<Outputs>& frames) {
  std::vector<Findings> found;
  for (std::size_t i = 0; i < frames.size(); ++i) found.push_back(finder.at(i, frames[i]));
  return found;
}

const std::vector<Detection>& all_of(const Findings& findings) {
  return findings.improbable ? *findings.improbable : *findings.detections;
}

/// Float32's boxes as if they were marked.
std::vector<application::MarkedObject> marked_by(const Findings& findings) {
  std::vector<application::MarkedObject> marked;
  for (const Detection& each : *findings.detections)
    marked.push_back({each.label, each.left, each.top, each.width, each.height,
                      each.width * each.height, false, false});
  return marked;
}

/// Boxes beside float32's: all frames of one measurement, then the average precision.
struct BoxesBeside {
  Finder finder;
  double threshold;
  std::vector<Examined> frames;  // what float32 found, and what is found now

  Answers compare(std::size_t frame, std::span<const network::Array> outputs) {
    frames[frame].found = all_of(finder.at(frame, outputs));
    return {0, 0};
  }
  void conclude(Loss& loss) const {
    const AveragePrecision now = application::average_precision(frames, threshold);
    loss.measure = beside_float32;
    loss.fall = 1 - now.at_50.value_or(1);
    loss.answers = now.together.objects;
    loss.changed = now.together.objects - now.together.right;
  }
};

void compare_boxes(profile::LossMeter& meter, const Finder& finder,
                   const std::vector<Findings>& expected, double threshold) {
  auto beside = std::make_shared<BoxesBeside>(BoxesBeside{finder, threshold, {}});
  std::size_t objects = 0;
  for (const Findings& findings : expected) {
    beside->frames.push_back({marked_by(findings), {}});
    objects += beside->frames.back().marked.size();
  }
  if (objects == 0)
    throw InputError(finder.samples().application->application.input.place,
                     fmt::format("float32 finds nothing on these {} frames, so that nobody can say "
                                 "what lower precisions lose; give frames that show objects",
                                 expected.size()));
  // Shared by the two functions of the meter.
  meter.compare_by(
      [beside](std::size_t frame, auto outputs) { return beside->compare(frame, outputs); },
      [beside](Loss& loss) { beside->conclude(loss); });
}

/// Beside ground truth: a meter for all frames of one measurement.
struct BesideTruth {
  Finder finder;
  double reference = 0;  // of float32
  std::optional<AccuracyMeter> meter = {};

  Answers compare(std::size_t frame, std::span<const network::Array> outputs) {
    const application::LoadedApplication& loaded = *finder.samples().application;
    if (frame == 0 || !meter) meter.emplace(*loaded.truth, loaded.application);
    meter->take({finder.samples().pictures[frame], finder.at(frame, outputs), {}});
    return {0, 0};
  }
  static double value_of(const application::Accuracy& accuracy) {
    if (accuracy.detection) return accuracy.detection->all.value_or(0);
    return static_cast<double>(accuracy.classes->right) /
           static_cast<double>(accuracy.classes->frames);
  }
  void conclude(Loss& loss) const {
    const application::Accuracy now = meter->result();
    loss.measure = now.detection ? beside_truth : class_accuracy;
    loss.fall = std::max(0.0, reference - value_of(now));
    const auto& boxes = now.detection;
    loss.answers = boxes ? boxes->together.objects : now.classes->frames;
    loss.changed = loss.answers - (boxes ? boxes->together.right : now.classes->right);
  }
};

void compare_with_truth(profile::LossMeter& meter, const Finder& finder) {
  auto beside = std::make_shared<BesideTruth>(BesideTruth{finder});
  const std::vector<Outputs>& expected = meter.expected();
  for (std::size_t i = 0; i < expected.size(); ++i) beside->compare(i, expected[i]);
  beside->reference = BesideTruth::value_of(beside->meter->result());
  // Shared by the two functions of the meter.
  meter.compare_by(
      [beside](std::size_t frame, auto outputs) { return beside->compare(frame, outputs); },
      [beside](Loss& loss) { beside->conclude(loss); });
}

std::int64_t different_pixels(const application::ClassMap& a, const application::ClassMap& b) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < a.classes.size(); ++i)
    count += i >= b.classes.size() || a.classes[i] != b.classes[i] ? 1 : 0;
  return count;
}

/// Answers of one frame; the kind of findings is the same in all frames.
Answers differing(const Findings& expected, const Findings& found) {
  if (expected.map && found.map)
    return {static_cast<std::int64_t>(expected.map->classes.size()),
            different_pixels(*expected.map, *found.map)};
  if (expected.text) return {1, found.text && found.text->text == expected.text->text ? 0 : 1};
  const auto first = [](const Findings& findings) {
    return findings.classes->empty() ? -1 : findings.classes->front().label;
  };
  return {1, found.classes && first(expected) == first(found) ? 0 : 1};
}

void compare_findings(profile::LossMeter& meter, const Finder& finder,
                      std::vector<Findings> expected) {
  const Findings& first = expected.front();
  const std::string measure = first.map ? same_pixels : first.text ? same_lines : same_classes;
  meter.compare_by(
      [finder, expected = std::move(expected)](std::size_t frame, auto outputs) {
        return differing(expected[frame], finder.at(frame, outputs));
      },
      [measure](Loss& loss) { loss.measure = measure; });
}

}  // namespace

void compare_by_application(profile::LossMeter& meter, const ApplicationSamples& samples,
                            const Context& context) {
  const Finder finder(samples);
  if (samples.application->truth) return compare_with_truth(meter, finder);
  std::vector<Findings> expected = found_in(finder, meter.expected());
  const application::Postprocess& wanted = samples.application->application.postprocess;
  const Findings& first = expected.front();
  if (first.detections) return compare_boxes(meter, finder, expected, wanted.detection.threshold);
  if (first.map || first.text || first.classes)
    return compare_findings(meter, finder, std::move(expected));
  context.note(
      fmt::format("findings of the post-processing '{}' have no measure of accuracy here; "
                  "the place of the largest output decides",
                  wanted.kind));
}

}  // namespace millrace::product
