#pragma once
// Boxes out of the outputs of detectors: decoding, threshold, suppression.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "application/findings.h"
#include "application/placement.h"
#include "formats/darknet/darknet.h"
#include "network/tensor.h"

namespace millrace::application {

/// One output of a detector of the YOLO family: [1, anchors (5 + classes), rows, columns], for each
/// anchor x, y, width, height, objectness and the classes.
struct HeadSettings {
  formats::darknet::Head::Kind kind = formats::darknet::Head::Kind::yolo;
  std::string output = {};                             // of the network; empty: by its place
  std::vector<formats::darknet::Anchor> anchors = {};  // see there for their unit
  // Whether places, objectness and classes are final, as the outputs of Darknet's networks are.
  // Otherwise they go through the logistic function (the classes of `region` through softmax) here,
  // and places are widened by scale_x_y.
  bool activated = true;
  double scale_x_y = 1;
  bool new_coords = false;  // width and height are square roots, not logarithms
};

/// What a file does not say of the heads of `detect`.
struct HeadFacts {
  std::string task = {};  // detect, segment, pose or obb; empty: not known
  std::optional<std::int64_t> classes = {};
  std::int64_t keypoints = 0, keypoint_values = 0;  // of an object, and for each of them
};

struct DetectionSettings {
  double threshold = 0.25;    // for the probability of a class in a box
  double suppression = 0.45;  // of two boxes of a class that overlap by more the better one stays
  std::int64_t candidates = 1000;  // that suppression looks at, the most probable
  bool class_agnostic = false;     // boxes of different classes suppress each other too
  std::vector<HeadSettings> heads = {};  // of `yolo` and `region`
  std::string head = {};                 // of `detect`; empty: as the outputs say
  HeadFacts facts = {};
  std::optional<Skeleton> skeleton = {};  // none: the usual one for 17 keypoints
};

/// A class of a box, in shares of the network's input.
struct Candidate {
  std::int64_t label = 0;
  double probability = 0;
  double x = 0, y = 0, width = 0, height = 0;  // of the centre
  // By which the box is turned around its centre, clockwise, in radians. Its lengths are those
  // before.
  double angle = 0;
  std::int64_t row = 0;  // where its head finds it again
};

/// Keeps the `most` most probable of what is above the threshold, in little memory. Which of those
/// that are equally probable depends on themselves alone.
class MostProbable {
 public:
  MostProbable(double threshold, std::int64_t most) : threshold_(threshold), most_(most) {}

  double threshold() const { return threshold_; }
  /// Whether to add it: it is above the threshold, and not too many are more probable.
  bool takes(double probability) {
    if (!(probability > threshold_)) return false;  // nor what is not a number
    ++seen_;
    return probability >= least_;
  }
  void add(const Candidate& candidate);

  struct Result {
    std::vector<Candidate> candidates;  // in any order
    std::int64_t left_out = 0;          // that are above the threshold too
  };
  Result take();

 private:
  void leave_out();

  double threshold_, least_ = 0;  // least_: of those to be kept
  std::int64_t most_, seen_ = 0;
  std::vector<Candidate> kept_;
};

/// Adds what the output says. `input`: of the network. Precondition: check_head.
void decode(const HeadSettings& head, const network::Array& output, const Size& input,
            MostProbable& found);

/// InputError, naming `place`, unless the output can be of that head. The number of classes.
std::int64_t check_head(const HeadSettings& head, const network::Tensor& output,
                        const std::string& place);

struct Suppression {
  double overlap = 0.45;  // intersection over union
  bool class_agnostic = false;
  Size input = {1, 1};  // its proportions matter to turned boxes
};

/// By falling probability: of each class (of all together if `class_agnostic`) those that overlap
/// no more probable one of it by more than that.
std::vector<Candidate> suppress(std::vector<Candidate> candidates, const Suppression& how);
inline std::vector<Candidate> suppress(std::vector<Candidate> candidates, double overlap) {
  return suppress(std::move(candidates), Suppression{overlap});
}

/// In pixels of the picture that lies at `placement` in the input. Boxes outside of it are left
/// out.
std::vector<Detection> to_picture(const std::vector<Candidate>& candidates, const Size& input,
                                  const Placement& placement, const Size& picture);

}  // namespace millrace::application
