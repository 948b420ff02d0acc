#include "application/accuracy/accuracy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>

#include "base/error.h"

namespace millrace::application {
namespace {

enum class Measure { none, boxes, classes, as_the_file };

Measure measure_of(const std::string& kind) {
  constexpr std::array<std::string_view, 3> boxes{"detect", "yolo", "region"};
  constexpr std::array<std::string_view, 5> others{"segmentation", "keypoints", "embedding", "text",
                                                   "raw"};
  if (std::find(boxes.begin(), boxes.end(), kind) != boxes.end()) return Measure::boxes;
  if (std::find(others.begin(), others.end(), kind) != others.end()) return Measure::none;
  return kind == "top_k" ? Measure::classes : Measure::as_the_file;  // a plug-in may find either
}

/// The number at the end of a name, as frames of videos are called: "street_000012".
std::optional<std::int64_t> number_at_end(const std::string& name) {
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto digits = std::find_if_not(name.rbegin(), name.rend(), is_digit) - name.rbegin();
  constexpr std::ptrdiff_t most_digits = 15;
  if (digits == 0 || digits > most_digits) return std::nullopt;
  return std::stoll(name.substr(name.size() - static_cast<std::size_t>(digits)));
}

/// "left" of "left_000012".
std::string before_number(const std::string& name) {
  const auto last = name.find_last_not_of("0123456789");
  const auto end = last == name.npos ? name.npos : name.find_last_not_of("_-. ", last);
  return end == name.npos ? std::string() : name.substr(0, end + 1);
}

/// A frame of a video, a camera or an array.
bool is_numbered(const Picture& picture) {
  return picture.time.has_value() || picture.captured.has_value() || !picture.arrays.empty();
}

std::vector<std::string> names_in(const GroundTruth& truth) {
  std::vector<std::string> names;
  for (const auto& [name, picture] : truth.pictures) names.push_back(name);
  for (const auto& [name, label] : truth.classes) names.push_back(name);
  return names;
}

/// Each frame of a video, a camera or an array must have one ground truth at most.
void check_numbers(const GroundTruth& truth, const Application& application) {
  for (const Input& input : application.inputs()) {
    if (input.kind == InputKind::images) continue;
    std::map<std::int64_t, std::string> known;
    for (const std::string& name : names_in(truth)) {
      const auto number = number_at_end(name);
      if (!number || (!input.name.empty() && before_number(name) != input.name)) continue;
      const auto [first, fresh] = known.emplace(*number, name);
      if (!fresh)
        throw InputError(truth.place,
                         fmt::format("has '{}' and '{}', which may both be frame {}{}; give "
                                     "ground truth with one name for each frame",
                                     first->second, name, *number,
                                     input.name.empty() ? "" : " of the input " + input.name));
    }
  }
}

/// Frames of several inputs come in any order.
void check_order(const GroundTruth& truth, const Application& application) {
  if (truth.classes_in_order.empty() || !application.has_several_inputs()) return;
  const bool has_pictures = application.input.kind == InputKind::images;
  throw InputError(truth.place,
                   fmt::format("has classes in the order of the frames, but the application has "
                               "several inputs; begin each line with the {}",
                               has_pictures ? std::string("name of the picture")
                                            : fmt::format("input and the number of the frame, "
                                                          "such as {}_0.png",
                                                          application.input.name)));
}

GroundTruth checked(GroundTruth truth, const Application& application) {
  check_order(truth, application);
  check_numbers(truth, application);
  return truth;
}

MarkedObject in_pixels(MarkedObject object, const Size& picture) {
  const auto across = static_cast<double>(picture.width),
             down = static_cast<double>(picture.height);
  object.left *= across;
  object.width *= across;
  object.top *= down;
  object.height *= down;
  object.area = object.width * object.height;
  return object;
}

/// In pixels of this picture.
std::vector<MarkedObject> objects_in(const MarkedPicture& marked, const Picture& picture) {
  if (!marked.in_shares && picture.image.empty()) return marked.objects;
  if (picture.image.empty())
    throw InputError(marked.place,
                     "has boxes as shares of a picture, but the frames are arrays; "
                     "give pictures, or ground truth in pixels");
  const Size size{picture.image.width, picture.image.height};
  if (marked.size && *marked.size != size)
    throw InputError(marked.place,
                     fmt::format("is of a picture of {} x {} pixels, but '{}' has {} x {}; give "
                                 "the ground truth of the application's pictures",
                                 marked.size->width, marked.size->height, picture.name, size.width,
                                 size.height));
  std::vector<MarkedObject> objects;
  for (const MarkedObject& object : marked.objects) {
    objects.push_back(marked.in_shares ? in_pixels(object, size) : object);
    check_inside(objects.back(), size, marked.place);
  }
  return objects;
}

}  // namespace

GroundTruth read_truth(const std::string& path, const Application& application) {
  const std::string& kind = application.postprocess.kind;
  const ClassNames names{application.labels};
  switch (measure_of(kind)) {
    case Measure::boxes:
      return checked(read_objects(path, names), application);
    case Measure::classes:
      return checked(read_classes(path, names), application);
    case Measure::as_the_file:
      return checked(path.ends_with(".txt") ? read_classes(path, names) : read_objects(path, names),
                     application);
    case Measure::none:
      break;
  }
  throw InputError(path, fmt::format("is ground truth of classes or boxes, but the application's "
                                     "post-processing is '{}'; expected such as top_k or detect",
                                     kind));
}

void check_names(const GroundTruth& truth, std::span<const std::string> pictures) {
  if (!truth.classes_in_order.empty() || pictures.empty()) return;
  const bool any = std::any_of(pictures.begin(), pictures.end(), [&](const std::string& name) {
    const std::string key = picture_key(name);
    return truth.pictures.contains(key) || truth.classes.contains(key);
  });
  if (any) return;
  const std::string marked =
      truth.is_of_detections() ? truth.pictures.begin()->first : truth.classes.begin()->first;
  throw InputError(truth.place,
                   fmt::format("is ground truth of other pictures, such as '{}': there "
                               "is none of '{}' or of any other of the application's "
                               "{} pictures",
                               marked, pictures.front(), pictures.size()));
}

AccuracyMeter::AccuracyMeter(GroundTruth truth, const Application& application)
    : truth_(std::move(truth)), threshold_(application.postprocess.detection.threshold) {
  accuracy_.labels = application.labels;
  for (const std::string& name : names_in(truth_)) {
    const auto number = number_at_end(name);
    if (!number) continue;
    by_number_.emplace(std::pair{std::string(), *number}, name);
    by_number_.emplace(std::pair{before_number(name), *number}, name);
  }
  if (truth_.is_of_detections()) return;
  accuracy_.classes.emplace();
  accuracy_.classes->top = application.postprocess.top;
}

template <class Value>
const Value* AccuracyMeter::find(const std::map<std::string, Value>& values,
                                 const Picture& picture) const {
  if (!is_numbered(picture)) {
    const auto found = values.find(picture_key(picture.name));
    return found == values.end() ? nullptr : &found->second;
  }
  const auto name = by_number_.find({picture.input, picture.frame});
  return name == by_number_.end() ? nullptr : &values.at(name->second);
}

void AccuracyMeter::take(const Outcome& outcome) {
  const std::int64_t before = accuracy_.frames;
  if (truth_.is_of_detections())
    take_detections(outcome);
  else
    take_classes(outcome);
  if (accuracy_.frames != before) return;
  ++accuracy_.without_truth;
  if (example_.empty()) example_ = outcome.picture.name;
}

void AccuracyMeter::take_detections(const Outcome& outcome) {
  const Findings& findings = outcome.findings;
  if (!findings.detections)
    throw InputError(truth_.place, "is ground truth of boxes, but the post-processing finds none");
  const MarkedPicture* marked = find(truth_.pictures, outcome.picture);
  if (marked == nullptr) return;
  ++accuracy_.frames;
  examined_.push_back({objects_in(*marked, outcome.picture),
                       findings.improbable ? *findings.improbable : *findings.detections});
}

void AccuracyMeter::take_classes(const Outcome& outcome) {
  const Findings& findings = outcome.findings;
  if (!findings.classes || findings.classes->empty())
    throw InputError(truth_.place,
                     "is ground truth of classes, but the post-processing finds none");
  const auto frame = static_cast<std::size_t>(outcome.picture.frame);
  const std::vector<std::int64_t>& in_order = truth_.classes_in_order;
  const std::int64_t* expected = find(truth_.classes, outcome.picture);
  if (!in_order.empty()) expected = frame < in_order.size() ? &in_order[frame] : nullptr;
  if (expected == nullptr) return;
  ++accuracy_.frames;
  ClassAccuracy& classes = *accuracy_.classes;
  ++classes.frames;
  const auto is_right = [&](const Ranked& each) {  // what is not a number finds nothing
    return each.label == *expected && !std::isnan(each.value);
  };
  if (is_right(findings.classes->front())) ++classes.right;
  classes.among +=
      std::any_of(findings.classes->begin(), findings.classes->end(), is_right) ? 1 : 0;
}

Accuracy AccuracyMeter::result() const {
  const auto marked = static_cast<std::int64_t>(truth_.pictures.size() + truth_.classes.size() +
                                                truth_.classes_in_order.size());
  if (accuracy_.frames == 0)
    throw InputError(
        truth_.place,
        example_.empty()
            ? "no frame came to compare with it"
            : fmt::format("is ground truth of other pictures: it has {}, none of which "
                          "is '{}'; expected the names of the application's pictures",
                          marked == 1 ? "one" : std::to_string(marked), example_));
  Accuracy accuracy = accuracy_;
  accuracy.not_seen = marked - accuracy.frames;
  if (truth_.is_of_detections()) accuracy.detection = average_precision(examined_, threshold_);
  return accuracy;
}

}  // namespace millrace::application
