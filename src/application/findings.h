#pragma once
// What post-processing makes of a frame's outputs.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace millrace::application {

/// In pixels of the picture, from its top left corner.
struct Point {
  double x = 0, y = 0;
  bool operator==(const Point&) const = default;
};

/// A part of an object, such as an elbow.
struct Keypoint {
  Point at;
  double probability = 1;  // that it can be seen
  bool operator==(const Keypoint&) const = default;
};

/// Which pixels of the picture belong to an object: a rectangle, row by row from the top, 1 for
/// those that do and 0 for the others.
struct Mask {
  std::int64_t left = 0, top = 0, width = 0, height = 0;
  std::vector<std::uint8_t> inside = {};
  bool operator==(const Mask&) const = default;
};

/// An object, in pixels of the picture from its top left corner. Detectors cut boxes at the
/// borders, but for turned ones.
struct Detection {
  std::int64_t label = 0;
  double probability = 0;
  double left = 0, top = 0, width = 0, height = 0;
  std::vector<Point> corners = {};  // of a rotated box, in order; else empty
  std::vector<Keypoint> keypoints = {};
  std::optional<Mask> mask = {};
  bool operator==(const Detection&) const = default;
};

/// The class of each pixel of the picture, row by row from the top.
struct ClassMap {
  std::int64_t width = 0, height = 0;
  std::vector<std::uint8_t> classes = {};
  bool operator==(const ClassMap&) const = default;
};

/// A line that was read.
struct ReadText {
  std::string text;
  double probability = 0;  // mean of its characters
  bool operator==(const ReadText&) const = default;
};

/// Which keypoints a line joins in a picture, by number.
using Skeleton = std::vector<std::pair<std::size_t, std::size_t>>;

struct Ranked {
  std::int64_t label = 0;
  double value = 0;
  bool operator==(const Ranked&) const = default;
};

/// What a second network finds in the part of the picture around a detection, in whole pixels.
struct CropFindings {
  std::size_t detection = 0;  // of Findings::detections
  std::int64_t left = 0, top = 0, width = 0, height = 0;
  std::optional<std::vector<Ranked>> classes = {};  // by falling value
  std::optional<std::vector<float>> embedding = {};
  std::optional<ReadText> text = {};
  std::string json = {};  // anything else, as JSON; empty: nothing
  bool operator==(const CropFindings&) const = default;
};

/// A processing fills what it finds out.
struct Findings {
  std::optional<std::vector<Detection>> detections = {};  // by falling probability
  // With those below the threshold, if somebody measures the accuracy.
  std::optional<std::vector<Detection>> improbable = {};
  std::int64_t left_out = 0;  // boxes above the threshold that were too many to look at
  std::optional<std::vector<Ranked>> classes = {};  // by falling value
  Skeleton skeleton = {};                           // of the detections
  std::optional<ClassMap> map = {};
  std::optional<std::vector<float>> embedding = {};
  std::optional<ReadText> text = {};
  std::string json = {};                            // anything else, as JSON; empty: nothing
  // Findings in crops, which the application itself fills: by falling probability of the boxes.
  std::vector<CropFindings> crops = {};
  std::int64_t not_cropped = 0;  // boxes of the wanted classes that were too many
  std::int64_t outside = 0;      // that have no pixel in the picture
  bool operator==(const Findings&) const = default;
};

}  // namespace millrace::application
