// AffineGrid, GridSample, NonMaxSuppression and RoiAlign.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "formats/onnx/node/node.h"
#include "formats/onnx/operators/steps.h"
#include "formats/onnx/operators/tables.h"

namespace millrace::formats::onnx {
namespace {

SampleMode sample_mode(const Node& node) {
  const std::string mode = node.attributes().text("mode", "linear");
  if (mode == "linear" || mode == "bilinear") return SampleMode::linear;
  if (mode == "cubic" || mode == "bicubic") return SampleMode::cubic;
  if (mode != "nearest")
    node.fail(fmt::format("the attribute 'mode' is '{}', expected linear, nearest or cubic", mode));
  return SampleMode::nearest;
}

SamplePadding sample_padding(const Node& node) {
  const std::string mode = node.attributes().text("padding_mode", "zeros");
  if (mode == "zeros") return SamplePadding::zeros;
  if (mode == "border") return SamplePadding::border;
  if (mode != "reflection")
    node.fail(
        fmt::format("the attribute 'padding_mode' is '{}', expected zeros, border or "
                    "reflection",
                    mode));
  return SamplePadding::reflection;
}

void lower_grid_sample(Node& node) {
  need_same_types(node);
  const Shape x = node.shape(0);
  const Shape grid = node.shape(1);
  if (x.size() != 4 || grid.size() != 4 || grid[0] != x[0] || grid[3] != 2 || x[2] < 1 || x[3] < 1)
    node.fail(
        fmt::format("the input is {} and the grid {}, expected images of four dimensions and "
                    "a grid of as many images with two coordinates for each point",
                    to_text(x), to_text(grid)));
  const GridSample op{sample_mode(node), sample_padding(node),
                      node.attributes().flag("align_corners", false)};
  node.give(0, node.add(op, node.inputs(), {node.type(0), {x[0], x[1], grid[1], grid[2]}}));
}

/// The places of so many points from -1 to 1: their middles, or the ends are there.
double place_of(std::int64_t i, std::int64_t count, bool has_ends) {
  const double share = has_ends ? static_cast<double>(i) / static_cast<double>(count - 1)
                                : (static_cast<double>(i) + 0.5) / static_cast<double>(count);
  return has_ends && count == 1 ? 0 : 2 * share - 1;
}

/// Each point of an image or a volume with its coordinates, x first, and a 1.
std::vector<float> points_of(const Shape& sizes, bool has_ends) {
  std::vector<float> values;
  for (std::int64_t point = 0; point < element_count(sizes); ++point) {
    std::int64_t rest = point;
    for (std::size_t axis = sizes.size(); axis-- > 0; rest /= sizes[axis])
      values.push_back(static_cast<float>(place_of(rest % sizes[axis], sizes[axis], has_ends)));
    values.push_back(1);
  }
  return values;
}

/// Inputs: a matrix for each image, the size of the images.
void lower_affine_grid(Node& node) {
  const Shape size = integers(node, 1, "the size");
  constexpr std::int64_t most = 1 << 24;  // points
  std::int64_t points = 1;
  for (const std::int64_t each : size) {
    if (each < 1 || each > most || (points *= each) > most)
      node.fail(fmt::format("the size is {}, expected numbers above 0 that are not too large",
                            to_text(size)));
  }
  const auto axes = static_cast<std::int64_t>(size.size()) - 2;
  if ((axes != 2 && axes != 3) || node.shape(0) != Shape{size[0], axes, axes + 1})
    node.fail(fmt::format("the matrices are {} and the size {}, expected images x 2 x 3 and four "
                          "numbers, or images x 3 x 4 and five",
                          to_text(node.shape(0)), to_text(size)));
  const Shape spatial(size.begin() + 2, size.end());
  const std::int64_t each = element_count(spatial);
  take_memory(node, {each * (axes + 1) * std::int64_t{sizeof(float)}});
  Steps steps(node);
  const bool has_ends = node.attributes().flag("align_corners", false);
  const TensorId base =
      steps.numbers({1, each, axes + 1}, points_of(spatial, has_ends), node.type(0));
  Shape result{size[0]};
  result.insert(result.end(), spatial.begin(), spatial.end());
  result.push_back(axes);
  node.give(0, steps.reshaped(steps.product(base, steps.transposed(node.input(0), {0, 2, 1})),
                              result));
}

std::optional<double> single_number(const Node& node, std::size_t input, std::string_view what) {
  if (!node.has(input)) return std::nullopt;
  const std::vector<double> values = numbers(node, input, what);
  if (values.size() != 1) node.fail(fmt::format("{} is not one number", what));
  return values[0];
}

/// The rows in use, of a result that is known now.
TensorId without_free_rows(Node& node, TensorId id) {
  const Array all = *node.tensor(id).constant;
  const auto values = all.values<std::int64_t>();
  std::size_t rows = 0;
  while (rows * 3 < values.size() && values[rows * 3] >= 0) ++rows;
  return node.add_constant(make_array<std::int64_t>(
      DataType::int64, {static_cast<std::int64_t>(rows), 3}, values.first(rows * 3)));
}

void lower_non_max_suppression(Node& node) {
  const Shape boxes = node.shape(0);
  const Shape scores = node.shape(1);
  if (boxes.size() != 3 || scores.size() != 3 || boxes[2] != 4 || boxes[0] != scores[0] ||
      boxes[1] != scores[2])
    node.fail(
        fmt::format("the boxes are {} and the scores {}, expected batch x boxes x 4 and "
                    "batch x classes x boxes",
                    to_text(boxes), to_text(scores)));
  for (std::size_t i = 0; i < 2; ++i)
    if (node.type(i) != DataType::float32)
      node.fail(fmt::format("the input '{}' has type {}, expected float32", node.tensor(i).name,
                            to_text(node.type(i))));
  NonMaxSuppression op;
  const double most = single_number(node, 2, "the number of boxes of a class").value_or(0);
  op.most_per_class =
      most > 0 ? static_cast<std::int64_t>(std::min(most, static_cast<double>(boxes[1]))) : 0;
  op.overlap = static_cast<float>(single_number(node, 3, "the overlap").value_or(0));
  const std::optional<double> score = single_number(node, 4, "the least score");
  op.has_score = score.has_value();
  op.score = static_cast<float>(score.value_or(0));
  op.centre_and_size = node.attributes().flag("center_point_box", false);
  const Made made{DataType::int64, {scores[0] * scores[1] * op.most_per_class, 3}};
  const TensorId result = node.add(op, {node.input(0), node.input(1)}, made);
  if (node.tensor(result).constant) return node.give(0, without_free_rows(node, result));
  node.give(0, result);
  node.reading().of_varying_length.insert(result);
}

void lower_roi_align(Node& node) {
  const Shape x = node.shape(0);
  const Shape regions = node.shape(1);
  if (x.size() != 4 || regions.size() != 2 || regions[1] != 4 ||
      node.shape(2) != Shape{regions[0]} || x[2] < 1 || x[3] < 1)
    node.fail(
        fmt::format("the input is {}, the regions {} and their images {}, expected four "
                    "dimensions, regions x 4 and regions",
                    to_text(x), to_text(regions), to_text(node.shape(2))));
  const Attributes& a = node.attributes();
  RoiAlign op;
  op.scale = a.number("spatial_scale", 1);
  op.sampling_ratio = std::clamp<std::int64_t>(a.integer("sampling_ratio", 0), 0, 1024);
  const std::string mode = a.text("mode", "avg");
  const std::string transformation = a.text("coordinate_transformation_mode",
                                            node.opset() < 16 ? "output_half_pixel" : "half_pixel");
  if ((mode != "avg" && mode != "max") ||
      (transformation != "half_pixel" && transformation != "output_half_pixel"))
    node.fail(
        fmt::format("'mode' is '{}' and 'coordinate_transformation_mode' '{}', expected avg or "
                    "max, and half_pixel or output_half_pixel",
                    mode, transformation));
  op.maximum = mode == "max";
  op.half_pixel = transformation == "half_pixel";
  const std::int64_t height = a.integer("output_height", 1), width = a.integer("output_width", 1);
  if (height < 1 || width < 1 || height > 1 << 20 || width > 1 << 20)
    node.fail(
        fmt::format("the output's height {} and width {} are not from 1 to 2^20", height, width));
  node.give(0, node.add(op, node.inputs(), {node.type(0), {regions[0], x[1], height, width}}));
}

constexpr std::array table_of_vision{
    OperatorEntry{"AffineGrid", lower_affine_grid, 2, 2, "align_corners"},
    OperatorEntry{"GridSample", lower_grid_sample, 2, 2, "align_corners mode padding_mode"},
    OperatorEntry{"NonMaxSuppression", lower_non_max_suppression, 2, 5, "center_point_box"},
    OperatorEntry{"RoiAlign", lower_roi_align, 3, 3,
                  "coordinate_transformation_mode mode output_height output_width sampling_ratio "
                  "spatial_scale"},
};

}  // namespace

std::span<const OperatorEntry> vision_operators() { return table_of_vision; }

}  // namespace millrace::formats::onnx
