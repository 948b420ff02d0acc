// Operators that only move elements, by what is known when the model is read.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "formats/onnx/operators/steps.h"
#include "formats/onnx/operators/tables.h"

namespace millrace::formats::onnx {
namespace {

/// Numbers up to `count`, of which the first `length` are reversed.
std::vector<std::int64_t> reversed(std::int64_t count, std::int64_t length) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::reverse(order.begin(), order.begin() + length);
  return order;
}

/// Inputs: sequences, the length of each.
void lower_reverse_sequence(Node& node) {
  const std::int64_t rank = node.rank(0);
  const auto axis_of = [&](const char* name, std::int64_t usual) {
    return normalized(node, node.attributes().integer(name, usual), rank);
  };
  const std::int64_t batch = axis_of("batch_axis", 1), time = axis_of("time_axis", 0);
  const Shape shape = node.shape(0), lengths = integers(node, 1, "the lengths");
  const std::int64_t longest = shape[static_cast<std::size_t>(time)];
  if (batch == time || node.shape(1) != Shape{shape[static_cast<std::size_t>(batch)]})
    node.fail(fmt::format("the lengths are {}, expected one for each sequence of {}",
                          to_text(node.shape(1)), to_text(shape)));
  Steps steps(node);
  std::vector<TensorId> parts;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 0 || lengths[i] > longest)
      node.fail(fmt::format("the length {} is not from 0 to {}", lengths[i], longest));
    take_memory(node, {longest * std::int64_t{sizeof(std::int64_t)}});
    const TensorId order =
        steps.integers({longest}, reversed(longest, lengths[i]), DataType::int64);
    const TensorId part =
        steps.part(node.input(0), static_cast<std::size_t>(batch), static_cast<std::int64_t>(i), 1);
    parts.push_back(node.add(Gather{time}, {part, order}, {node.type(0), steps.shape(part)}));
  }
  if (parts.empty()) return node.give(0, node.input(0));
  node.give(0, steps.joined(parts, static_cast<std::size_t>(batch)));
}

/// Inputs: anything, the size of its axes, of which the middle is kept or becomes the middle.
void lower_center_crop_pad(Node& node) {
  const Shape sizes = integers(node, 1, "the size");
  Shape axes(node.shape(0).size());
  std::iota(axes.begin(), axes.end(), 0);
  axes = node.attributes().integers("axes").value_or(axes);
  if (axes.size() != sizes.size())
    node.fail(fmt::format("there are {} sizes for {} axes", sizes.size(), axes.size()));
  Steps steps(node);
  TensorId result = node.input(0);
  Pad pad{PadMode::constant, Shape(node.shape(0).size(), 0), Shape(node.shape(0).size(), 0)};
  Shape padded = node.shape(0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(normalized(node, axes[i], node.rank(0)));
    const std::int64_t more = sizes[i] - padded[axis];
    if (sizes[i] < 0) node.fail(fmt::format("the size {} is below 0", sizes[i]));
    if (more <= 0) result = steps.part(result, axis, -more / 2, sizes[i]);
    pad.begin[axis] = std::max<std::int64_t>(more, 0) / 2;
    pad.end[axis] = std::max<std::int64_t>(more, 0) - pad.begin[axis];
    padded[axis] = sizes[i];
  }
  check_shape(node.type(0), padded, node.place());
  if (padded != steps.shape(result)) result = node.add(pad, {result}, {node.type(0), padded});
  node.give(0, result);
}

/// Inputs: what MaxPool has made, and where each value was.
void lower_max_unpool(Node& node) {
  const Shape shape = node.shape(0);
  const std::size_t axes = shape.size() < 2 ? 0 : shape.size() - 2;
  const Attributes& of = node.attributes();
  const Shape kernel = of.integers("kernel_shape").value_or(Shape{});
  const Shape strides = of.integers("strides").value_or(Shape(axes, 1));
  const Shape pads = of.integers("pads").value_or(Shape(2 * axes, 0));
  if (axes == 0 || kernel.size() != axes || strides.size() != axes || pads.size() != 2 * axes ||
      node.shape(1) != shape || node.type(1) != DataType::int64)
    node.fail(
        fmt::format("the values are {} and their places {}, which do not fit each other or "
                    "the window",
                    to_text(shape), to_text(node.shape(1))));
  Shape result = shape;
  for (std::size_t i = 0; i < axes; ++i)
    result[2 + i] = (shape[2 + i] - 1) * strides[i] + kernel[i] - pads[i] - pads[axes + i];
  if (node.has(2) && integers(node, 2, "the shape") != result)
    node.fail(fmt::format("another shape than {} is not supported", to_text(result)));
  check_shape(node.type(0), result, node.place());
  const std::int64_t all = element_count(result), given = element_count(shape);
  take_memory(node, {all * std::int64_t{sizeof(float)}});
  Steps steps(node);
  const TensorId none =
      steps.numbers({all}, std::vector<float>(static_cast<std::size_t>(all), 0), node.type(0));
  const TensorId places = steps.reshaped(node.input(1), {given});
  const TensorId values = steps.reshaped(node.input(0), {given});
  const TensorId made =
      node.add(ScatterElements{0}, {none, places, values}, {node.type(0), Shape{all}});
  node.give(0, steps.reshaped(made, result));
}

constexpr std::array table_of_rearranged{
    OperatorEntry{"CenterCropPad", lower_center_crop_pad, 2, 2, "axes"},
    OperatorEntry{"MaxUnpool", lower_max_unpool, 2, 3, "kernel_shape pads strides"},
    OperatorEntry{"ReverseSequence", lower_reverse_sequence, 2, 2, "batch_axis time_axis"},
};

}  // namespace

std::span<const OperatorEntry> rearranged_operators() { return table_of_rearranged; }

}  // namespace millrace::formats::onnx
