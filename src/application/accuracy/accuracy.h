#pragma once
// How right an application's findings are, beside ground truth.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "application/accuracy/average_precision.h"
#include "application/accuracy/truth.h"
#include "application/application.h"
#include "application/sink.h"

namespace millrace::application {

/// Accuracy of classifications.
struct ClassAccuracy {
  std::int64_t frames = 0;
  std::int64_t right = 0;  // frames whose most probable class is the true one
  std::int64_t top = 5;    // how many classes a frame's findings have
  std::int64_t among = 0;  // frames whose true class is among these
};

struct Accuracy {
  std::int64_t frames = 0;          // that have ground truth
  std::int64_t without_truth = 0;   // frames that have none, and do not count
  std::int64_t not_seen = 0;        // what the ground truth has of pictures that did not come
  std::vector<std::string> labels;  // of the application
  std::optional<AveragePrecision> detection;
  std::optional<ClassAccuracy> classes;
};

/// For the file or folder of ground truth. InputError if the application's post-processing finds
/// neither objects nor classes, or the ground truth cannot be read.
GroundTruth read_truth(const std::string& path, const Application& application);

/// Before they run: InputError if none of the pictures, by name, has ground truth.
void check_names(const GroundTruth& truth, std::span<const std::string> pictures);

/// Compares frame by frame; one thread at a time.
class AccuracyMeter {
 public:
  AccuracyMeter(GroundTruth truth, const Application& application);

  /// InputError if the ground truth of this picture is of one of another size, or has a box outside
  /// of it.
  void take(const Outcome& outcome);
  /// InputError if no frame has ground truth.
  Accuracy result() const;

 private:
  void take_detections(const Outcome& outcome);
  void take_classes(const Outcome& outcome);
  template <class Value>
  const Value* find(const std::map<std::string, Value>& values, const Picture& picture) const;

  GroundTruth truth_;
  /// Names in the truth of a video's frames, by input, if there are several, and by frame.
  std::map<std::pair<std::string, std::int64_t>, std::string> by_number_;
  double threshold_;
  Accuracy accuracy_;
  std::vector<Examined> examined_;
  std::string example_;  // a frame without ground truth
};

}  // namespace millrace::application
