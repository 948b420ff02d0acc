// Convolutions at shifted places: samples between the elements, and a product with the weights.
#include <fmt/format.h>

#include <array>

#include "formats/onnx/operators/steps.h"
#include "formats/onnx/operators/tables.h"
#include "formats/onnx/window.h"

namespace millrace::formats::onnx {
namespace {

/// Sizes of the node. Each group of offsets has its own places for its share of the channels.
struct Deformed {
  Window window;
  std::int64_t images, channels, height, width;  // of X
  std::int64_t filters, groups, offset_groups;
  std::int64_t rows, columns;  // of the result

  std::int64_t taps() const { return window.kernel[0] * window.kernel[1]; }
  std::int64_t points() const { return rows * columns; }
  std::int64_t samples() const { return images * offset_groups; }
};

void expect_shape(const Node& node, std::size_t input, const Shape& expected) {
  if (node.shape(input) != expected)
    node.fail(fmt::format("the input '{}' has shape {}, expected {}", node.tensor(input).name,
                          to_text(node.shape(input)), to_text(expected)));
}

Deformed read_sizes(const Node& node) {
  need_same_types(node);
  for (const std::size_t input : {0u, 1u, 2u})
    if (node.rank(input) != 4 || node.type(input) != DataType::float32)
      node.fail(fmt::format("the input '{}' is {} {}, expected float32 of 4 dimensions",
                            node.tensor(input).name, to_text(node.type(input)),
                            to_text(node.shape(input))));
  const Shape &x = node.shape(0), &weights = node.shape(1);
  Deformed d{read_window(node, 2, {weights[2], weights[3]}),
             x[0],
             x[1],
             x[2],
             x[3],
             weights[0],
             node.attributes().integer("group", 1),
             node.attributes().integer("offset_group", 1),
             0,
             0};
  const Shape out = slide(node, {d.height, d.width}, false, d.window);
  d.rows = out[0], d.columns = out[1];
  if (d.groups < 1 || d.offset_groups < 1 || d.channels % d.groups != 0 ||
      d.filters % d.groups != 0 || d.channels % d.offset_groups != 0 ||
      weights[1] * d.groups != d.channels || d.height == 0 || d.width == 0)
    node.fail(fmt::format("{} channels and {} filters of {} channels do not fit {} groups and {} "
                          "groups of offsets",
                          d.channels, d.filters, weights[1], d.groups, d.offset_groups));
  expect_shape(node, 2, {d.images, d.offset_groups * d.taps() * 2, d.rows, d.columns});
  if (node.has(3)) expect_shape(node, 3, {d.filters});
  if (node.has(4)) expect_shape(node, 4, {d.images, d.offset_groups * d.taps(), d.rows, d.columns});
  return d;
}

/// Where the taps lie without offsets, as GridSample counts: x, then y, of each tap and point.
std::vector<float> usual_places(const Deformed& d) {
  std::vector<float> places;
  const auto place = [&](std::size_t axis, std::int64_t out, std::int64_t tap, std::int64_t size) {
    const std::int64_t at =
        out * d.window.strides[axis] - d.window.pads_begin[axis] + tap * d.window.dilations[axis];
    return static_cast<float>(static_cast<double>(2 * at + 1) / static_cast<double>(size) - 1);
  };
  for (std::int64_t tap = 0; tap < d.taps(); ++tap) {
    for (std::int64_t p = 0; p < d.points(); ++p)
      places.push_back(place(1, p % d.columns, tap % d.window.kernel[1], d.width));
    for (std::int64_t p = 0; p < d.points(); ++p)
      places.push_back(place(0, p / d.columns, tap / d.window.kernel[1], d.height));
  }
  return places;
}

/// The grid for GridSample: [samples, taps, points, (x, y)].
TensorId places_of(Node& node, const Deformed& d) {
  Steps steps(node);
  const TensorId offsets = steps.reshaped(node.input(2), {d.samples(), d.taps(), 2, d.points()});
  const TensorId turned =
      steps.joined({steps.part(offsets, 2, 1, 1), steps.part(offsets, 2, 0, 1)}, 2);
  const std::vector<float> size{2 / static_cast<float>(d.width), 2 / static_cast<float>(d.height)};
  const TensorId scaled = steps.combined(
      BinaryKind::mul, turned, steps.numbers({1, 1, 2, 1}, size, DataType::float32));
  take_memory(node, Bytes{8} * (d.taps() * d.points()));
  const TensorId usual =
      steps.numbers({1, d.taps(), 2, d.points()}, usual_places(d), DataType::float32);
  return steps.transposed(steps.sum(scaled, usual), {0, 1, 3, 2});
}

void lower_deform_conv(Node& node) {
  const Deformed d = read_sizes(node);
  Steps steps(node);
  const std::int64_t of_group = d.channels / d.offset_groups;
  const TensorId images =
      steps.reshaped(node.input(0), {d.samples(), of_group, d.height, d.width});
  TensorId taken = node.add(GridSample{}, {images, places_of(node, d)},
                            {DataType::float32, {d.samples(), of_group, d.taps(), d.points()}});
  if (node.has(4))
    taken = steps.combined(
        BinaryKind::mul, taken,
        steps.reshaped(node.input(4), {d.samples(), 1, d.taps(), d.points()}));
  const std::int64_t depth = d.channels / d.groups * d.taps();
  const TensorId columns = steps.reshaped(taken, {d.images, d.groups, depth, d.points()});
  const TensorId weights =
      steps.reshaped(node.input(1), {1, d.groups, d.filters / d.groups, depth});
  TensorId result = steps.reshaped(steps.product(weights, columns),
                                   {d.images, d.filters, d.rows, d.columns});
  if (node.has(3))
    result = steps.sum(result, steps.reshaped(node.input(3), {1, d.filters, 1, 1}));
  node.give(0, result);
}

constexpr std::array table_of_deformed{
    OperatorEntry{"DeformConv", lower_deform_conv, 3, 5,
                  "dilations group kernel_shape offset_group pads strides"},
};

}  // namespace

std::span<const OperatorEntry> deformed_operators() { return table_of_deformed; }

}  // namespace millrace::formats::onnx
