#pragma once
// How well detections agree with what pictures show, as COCO measures it.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "application/accuracy/truth.h"
#include "application/findings.h"

namespace millrace::application {

/// Objects of one picture, marked and found, in its pixels.
struct Examined {
  std::vector<MarkedObject> marked;
  std::vector<Detection> found;
};

struct ClassPrecision {
  std::int64_t label = 0;
  std::int64_t objects = 0;           // to be found: no crowds, none that is ignored
  std::optional<double> all, at_50;   // average precision; none: there is nothing to find
  std::int64_t right = 0, wrong = 0;  // detections above the threshold, at an overlap of 0.5

  std::optional<double> precision() const;  // of what was found; none: nothing was
  std::optional<double> recall() const;     // of the objects; none: there is none
};

/// Means over the classes that there is something to find of; none: there is no such class.
struct AveragePrecision {
  std::optional<double> all;           // over overlaps of 0.5, 0.55 to 0.95
  std::optional<double> at_50, at_75;  // at that overlap
  // Average precision of objects of less than 32 x 32 pixels, of up to 96 x 96, and of more.
  std::optional<double> small, medium, large;
  std::optional<double> largest_recall;  // as `all`, with 100 detections of a class in a picture
  std::vector<ClassPrecision> classes;   // by number, those to be found or found above `threshold`
  ClassPrecision together;               // counts of all classes; label 0

  double threshold = 0;  // that counts of right and wrong begin above
};

/// COCO's definition: up to 100 detections of a class in a picture, the most probable first; each
/// takes the free object that it overlaps most; 101 levels of recall. Detections of what lies in a
/// crowd, of what is ignored and of sizes other than the range's do not count.
AveragePrecision average_precision(std::span<const Examined> pictures, double threshold);

}  // namespace millrace::application
