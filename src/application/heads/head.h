#pragma once
// Heads: how the boxes of a frame lie in a network's outputs, for the networks that people export.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "application/detections.h"
#include "application/heads/table.h"

namespace millrace::application {

/// What is known of a network before its first frame.
struct Outputs {
  struct Output {
    std::string name;
    network::Shape shape;
  };
  std::vector<Output> list;
  Size input;
  HeadFacts facts;
};

/// Where a head finds its numbers.
struct BoxLayout {
  std::vector<std::size_t> outputs;  // of the network, in the order in which the head reads them
  std::int64_t classes = 0;
  std::int64_t boxes = 0;
  bool columns_first = false;              // the first output is 1 x values x boxes
  std::vector<std::int64_t> strides = {};  // pixels of the input between cells, of each grid
  // Values of a row that begin at `extras`, after those of box and classes.
  std::int64_t extras = 0, coefficients = 0, keypoints = 0, keypoint_values = 0;
  bool has_angle = false;
  std::optional<std::size_t> prototypes = {};  // the output whose planes the coefficients add up
  bool is_certain = false;                     // no other head has outputs like these
  bool has_known_classes = true;               // as many as the labels say, if they say it
};

/// Values of a box: x and y of its centre, width, height.
inline constexpr std::int64_t box_columns = 4;

/// Float32 outputs of one frame.
using Frame = std::span<const network::Array>;

struct Head {
  std::string_view name;
  std::string_view expects;  // for messages
  bool suppresses;           // boxes that overlap are left to whoever reads the outputs
  /// Nothing if it does not fit. `named`: the user says that it is this head.
  std::optional<BoxLayout> (*fit)(const Outputs& outputs, bool named);
  void (*decode)(const BoxLayout& layout, Frame frame, const Size& input, MostProbable& found);
  /// In shares of the input; null: those in the rows of the first output.
  std::vector<Keypoint> (*keypoints)(const BoxLayout& layout, Frame frame, const Size& input,
                                     std::int64_t row) = nullptr;
};

struct Recognised {
  const Head* head;
  BoxLayout layout;
};

/// The heads that fit best, each once.
std::vector<Recognised> best_fits(const Outputs& outputs);

/// The head called `name`, or the only one that fits. InputError at `place` if it does not fit, or
/// none, or several: with what was found and which would fit.
Recognised recognise(const Outputs& outputs, const std::string& name, const std::string& place);

// What heads share.

/// Cells of a grid over the input.
std::int64_t cells_of(const Size& input, std::int64_t stride);
/// Strides of the grids whose cells, each with `each` boxes, are that many boxes together.
std::vector<std::int64_t> strides_of(const Size& input, std::int64_t boxes, std::int64_t each);

/// The outputs of a network with one table of boxes: 1 x a x b, and planes of masks if it has any.
struct TableOutputs {
  std::size_t table = 0;
  std::int64_t outer = 0, inner = 0;
  std::optional<std::size_t> prototypes = {};
};
std::optional<TableOutputs> table_outputs(const Outputs& outputs);

/// Says what the columns of a row are, the first `fixed` of which are box and objectness. False if
/// that leaves no class.
bool divide(const Outputs& outputs, const TableOutputs& found, std::int64_t fixed,
            BoxLayout& layout);

}  // namespace millrace::application
