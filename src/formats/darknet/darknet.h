#pragma once
// Darknet's networks: a configuration (.cfg) and its weights.
#include <cstdint>
#include <string>
#include <vector>

#include "formats/read.h"

namespace millrace::formats::darknet {

/// The size of a box that is usual: in pixels of the network's input for [yolo], in cells for
/// [region].
struct Anchor {
  double width = 0, height = 0;
  bool operator==(const Anchor&) const = default;
};

/// What is needed to make detections of one output of the network.
///
/// yolo and region: the output is N x (boxes (coordinates + 1 + classes)) x rows x columns; for
/// each box x, y, width, height, objectness, then the classes. x and y (for [yolo] with
/// `new_coords` or not: times scale_x_y, less half of what that adds), objectness and, for [yolo],
/// the classes have gone through the logistic function; the classes of [region] through softmax if
/// `softmax`. With `new_coords` [yolo] leaves all but that scaling to the convolution before it.
///
/// detection: the output is N x values: per cell the classes; then per cell and box the
/// objectness; then per cell and box the coordinates.
struct Head {
  enum class Kind { yolo, region, detection };
  Kind kind = Kind::yolo;
  std::string output;     // the name of the network's output
  std::size_t layer = 0;  // the number that Darknet gives the layer
  std::int64_t columns = 0, rows = 0;
  std::int64_t boxes = 0, coordinates = 4, classes = 0;
  std::vector<Anchor> anchors;  // one for each box; detection has none
  double scale_x_y = 1;
  bool new_coords = false;  // width and height are squares, not exponentials
  bool softmax = false;
  bool activated = true;             // the functions named above are part of the network
  bool square_root = false;          // detection: width and height are square roots
  std::string nms_kind = "default";  // how Darknet is asked to choose among overlapping boxes
  double beta_nms = 0.6;
};

/// All heads, in the order of the network's outputs. Empty for classifiers.
struct Heads {
  std::int64_t width = 0, height = 0;  // of the network's input
  bool letter_box = false;             // trained on images that kept their proportions
  std::vector<Head> heads;
};

/// A section of the file, without [net]: its number is its place in the list.
struct SectionShape {
  std::string kind;
  std::size_t line = 0;
  Shape output;  // with the batch
  std::string activation = "linear";
};

struct Model {
  Network network;  // simplified: see simplify.h
  Heads heads;
  std::vector<SectionShape> sections;
};

/// Reads a configuration; its weights are source.weights, else those beside it (NAME.weights),
/// else seeded, which its metadata says. Outputs are those of all [yolo], [region] and [detection],
/// or else of the last layer but [cost]. InputError names file and line.
Model read_darknet(const ModelSource& source);

/// The same from memory; weights are source.weights or seeded.
Model read_darknet(std::string_view text, const std::string& name, const ModelSource& source);

/// Only the heads, without weights; their outputs have no names. InputError as read_darknet.
Heads read_heads(const ModelSource& source);

}  // namespace millrace::formats::darknet
