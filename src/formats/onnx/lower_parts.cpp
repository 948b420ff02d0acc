// Putting tensors together and taking them apart.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "formats/onnx/lower.h"

namespace millrace::formats::onnx {
namespace {

constexpr std::int64_t farthest = std::int64_t{1} << 40;

std::size_t read_axis(const Node& node, std::int64_t fallback) {
  if (node.rank(0) == 0) node.fail("the input is a scalar, expected at least one dimension");
  return static_cast<std::size_t>(
      normalized(node, node.attributes().integer("axis", fallback), node.rank(0)));
}

/// In equal parts; the last is smaller if they do not come out even.
Shape equal_parts(const Node& node, std::int64_t size) {
  const auto count = static_cast<std::int64_t>(node.output_count());
  if (count == 0) node.fail("has no outputs, expected one for each part; export the model again");
  if (node.attributes().integer("num_outputs", count) != count)
    node.fail(fmt::format("the attribute 'num_outputs' differs from the node's {} outputs", count));
  const std::int64_t part = (size + count - 1) / count;
  if ((part * count != size && node.opset() < 18) || part * (count - 1) > size)
    node.fail(fmt::format("a dimension of {} cannot be split into {} equal parts", size, count));
  Shape parts(static_cast<std::size_t>(count), part);
  parts.back() = size - part * (count - 1);
  return parts;
}

void check_parts(const Node& node, const Shape& parts, std::int64_t size) {
  std::int64_t left = size;
  for (const std::int64_t part : parts) left = part < 0 || left < part ? -1 : left - part;
  if (left != 0 || parts.size() != node.output_count())
    node.fail(fmt::format("the parts {} do not make up the dimension of {} for {} outputs",
                          to_text(parts), size, node.output_count()));
}

/// How Slice was asked to cut, one entry per axis named.
struct Cut {
  Shape starts, ends, axes, steps;
};

Cut read_cut(const Node& node) {
  Cut cut;
  const auto starts = integers(node, "starts", 1, 10);
  const auto ends = integers(node, "ends", 2, 10);
  if (!starts || !ends) node.fail("'starts' or 'ends' is missing");
  cut.starts = *starts;
  cut.ends = *ends;
  Shape first(cut.starts.size());
  std::iota(first.begin(), first.end(), 0);
  cut.axes = integers(node, "axes", 3, 10).value_or(first);
  cut.steps = Shape(cut.starts.size(), 1);
  if (node.has(4)) cut.steps = integers(node, 4, "the input 'steps'");
  if (cut.ends.size() != cut.starts.size() || cut.axes.size() != cut.starts.size() ||
      cut.steps.size() != cut.starts.size())
    node.fail("'starts', 'ends', 'axes' and 'steps' differ in length");
  for (std::int64_t& axis : cut.axes) axis = normalized(node, axis, node.rank(0));
  return cut;
}

/// Where a slice begins and how many elements it has, by NumPy's rules.
struct Range {
  std::int64_t start = 0, count = 0;
};

Range clamp_range(std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t size) {
  const std::int64_t low = step > 0 ? 0 : -1;
  const std::int64_t high = step > 0 ? size : size - 1;
  start = std::clamp(start < 0 ? start + size : start, low, high);
  end = std::clamp(end < 0 ? end + size : end, low, high);
  const std::int64_t span = step > 0 ? end - start : start - end;
  const std::int64_t stride = step > 0 ? step : -step;
  return {start, span <= 0 ? 0 : (span + stride - 1) / stride};
}

/// Adds the i-th axis of the cut to the slice; how many elements are left.
std::int64_t cut_axis(const Node& node, const Cut& cut, std::size_t i, Slice& slice) {
  const auto axis = static_cast<std::size_t>(cut.axes[i]);
  const std::int64_t step = std::clamp(cut.steps[i], -farthest, farthest);
  if (step == 0) node.fail("a step is 0");
  const std::int64_t size = node.shape(0)[axis];
  const Range range = clamp_range(std::clamp(cut.starts[i], -2 * farthest, 2 * farthest),
                                  std::clamp(cut.ends[i], -2 * farthest, 2 * farthest), step, size);
  slice.starts[axis] = range.count == 0 ? 0 : range.start;
  slice.steps[axis] = step;
  return range.count;
}

void check_indices(const Node& node, std::int64_t size) {
  if (node.type(1) != DataType::int64 && node.type(1) != DataType::int32)
    node.fail(fmt::format("the indices '{}' have type {}, expected int64", node.tensor(1).name,
                          to_text(node.type(1))));
  if (!is_known(node, 1)) return;
  for (const std::int64_t index : integers(node, 1, "the indices"))
    if (index < -size || index >= size)
      node.fail(fmt::format("the index {} is outside the dimension of {}", index, size));
}

/// Per dimension, first all beginnings and then all ends.
Shape read_pads(const Node& node) {
  const auto given = integers(node, "pads", 1, 11);
  if (!given) node.fail("'pads' is missing");
  const auto rank = static_cast<std::size_t>(node.rank(0));
  Shape axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (node.has(3)) axes = integers(node, 3, "the input 'axes'");
  if (given->size() != 2 * axes.size())
    node.fail(fmt::format("'pads' has {} entries, expected {}", given->size(), 2 * axes.size()));
  Shape pads(2 * rank, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(normalized(node, axes[i], node.rank(0)));
    pads[axis] = (*given)[i];
    pads[axis + rank] = (*given)[i + axes.size()];
  }
  return pads;
}

PadMode read_pad_mode(const Node& node) {
  const std::string mode = node.attributes().text("mode", "constant");
  if (mode == "reflect") return PadMode::reflect;
  if (mode == "edge") return PadMode::edge;
  if (mode == "wrap") return PadMode::wrap;
  if (mode != "constant")
    node.fail(fmt::format("the attribute 'mode' is '{}', expected constant, reflect, edge or wrap",
                          mode));
  return PadMode::constant;
}

/// The extremes are clamped to themselves.
bool fits_double(std::int64_t n) {
  constexpr std::int64_t most = std::int64_t{1} << 53;
  using Limits = std::numeric_limits<std::int64_t>;
  return (n >= -most && n <= most) || n == Limits::min() || n == Limits::max();
}

/// The value to pad with; 0 where it has no effect: nothing is padded, or by other values.
double read_pad_value(const Node& node, PadMode mode, const Shape& pads) {
  const auto adds = [](std::int64_t pad) { return pad > 0; };
  if (mode != PadMode::constant || std::ranges::none_of(pads, adds)) return 0;
  if (node.opset() < 11) return double{node.attributes().number("value", 0)};
  if (!node.has(2)) return 0;
  const std::vector<double> values = numbers(node, 2, "the value to pad with");
  if (values.size() != 1) node.fail("the value to pad with is not one number");
  if (node.type(2) == DataType::int64 &&
      !fits_double(integers(node, 2, "the value to pad with")[0]))
    node.fail("the value to pad with is an integer of more than 53 bits, which is not supported");
  return values[0];
}

std::int64_t padded(const Node& node, PadMode mode, std::size_t i, const Shape& pads) {
  const std::int64_t size = node.shape(0)[i];
  const std::int64_t begin = pads[i];
  const std::int64_t end = pads[i + pads.size() / 2];
  const std::int64_t reflected = std::max(begin, end);
  const std::int64_t cropped =
      std::clamp<std::int64_t>(begin, -farthest, 0) + std::clamp<std::int64_t>(end, -farthest, 0);
  if (size + cropped < 0)
    node.fail(
        fmt::format("dimension {} of the input {}, cropped by pads of {} and {}, would have "
                    "{} elements; check the pads",
                    i, to_text(node.shape(0)), begin, end, size + cropped));
  const bool possible = begin > -farthest && begin < farthest && end > -farthest && end < farthest;
  if (!possible || (mode == PadMode::reflect && reflected > 0 && reflected >= size) ||
      (mode != PadMode::constant && reflected > 0 && size + cropped == 0))
    node.fail(fmt::format("dimension {} of the input {} cannot be padded by {} and {} in this mode",
                          i, to_text(node.shape(0)), begin, end));
  return size + begin + end;
}

}  // namespace

void lower_concat(Node& node) {
  need_same_types(node);
  const std::size_t axis = read_axis(node, node.attributes().required_integer("axis"));
  Shape shape = node.shape(0);
  std::int64_t total = 0;
  for (std::size_t i = 0; i < node.optional_inputs().size(); ++i) {
    Shape other = node.shape(i);
    if (other.size() == shape.size()) {
      total += other[axis];
      other[axis] = shape[axis];
    }
    if (other != shape)
      node.fail(
          fmt::format("the inputs '{}' and '{}' have shapes {} and {}, which differ outside "
                      "the axis {}",
                      node.tensor(0).name, node.tensor(i).name, to_text(node.shape(0)),
                      to_text(node.shape(i)), axis));
  }
  if (node.optional_inputs().size() == 1) return node.give(0, node.input(0));
  shape[axis] = total;
  const Concat op{static_cast<std::int64_t>(axis)};
  node.give(0, node.add(op, node.inputs(), {node.type(0), std::move(shape)}));
}

void lower_split(Node& node) {
  const std::size_t axis = read_axis(node, 0);
  const Shape shape = node.shape(0);
  const auto given = integers(node, "split", 1, 13);
  const Shape parts = given ? *given : equal_parts(node, shape[axis]);
  check_parts(node, parts, shape[axis]);
  std::vector<std::optional<Made>> made;
  for (const std::int64_t part : parts) {
    made.push_back(Made{node.type(0), shape});
    made.back()->shape[axis] = part;
  }
  if (parts.size() == 1) return node.give(0, node.input(0));
  const Split op{static_cast<std::int64_t>(axis)};
  const std::vector<TensorId> outputs = node.add(op, {node.input(0)}, made);
  for (std::size_t i = 0; i < outputs.size(); ++i) node.give(i, outputs[i]);
}

void lower_slice(Node& node) {
  const Cut cut = read_cut(node);
  Shape shape = node.shape(0);
  Slice slice{Shape(shape.size(), 0), Shape(shape.size(), 1)};
  for (std::size_t i = 0; i < cut.axes.size(); ++i)
    shape[static_cast<std::size_t>(cut.axes[i])] = cut_axis(node, cut, i, slice);
  const Shape ones(shape.size(), 1);
  if (shape == node.shape(0) && slice.steps == ones) return node.give(0, node.input(0));
  const Made made{node.type(0), std::move(shape)};
  node.give(0, node.add(std::move(slice), {node.input(0)}, made));
}

void lower_gather(Node& node) {
  const std::size_t axis = read_axis(node, 0);
  const Shape shape = node.shape(0);
  const Shape indices = node.shape(1);
  check_indices(node, shape[axis]);
  if (shape[axis] == 0 && element_count(indices) > 0)
    node.fail("the dimension to gather from has no elements");
  Made made{node.type(0), {}};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i != axis) made.shape.push_back(shape[i]);
    if (i != axis) continue;
    for (const std::int64_t size : indices) made.shape.push_back(size);
  }
  node.give(0, node.add(Gather{static_cast<std::int64_t>(axis)}, node.inputs(), std::move(made)));
}

void lower_pad(Node& node) {
  const Shape pads = read_pads(node);
  const auto middle = pads.begin() + node.rank(0);
  const PadMode mode = read_pad_mode(node);
  Pad pad{mode, Shape(pads.begin(), middle), Shape(middle, pads.end()),
          read_pad_value(node, mode, pads)};
  Made made{node.type(0), node.shape(0)};
  for (std::size_t i = 0; i < made.shape.size(); ++i)
    made.shape[i] = padded(node, pad.mode, i, pads);
  const bool nothing = std::all_of(pads.begin(), pads.end(), [](auto size) { return size == 0; });
  if (nothing) return node.give(0, node.input(0));
  node.give(0, node.add(std::move(pad), {node.input(0)}, std::move(made)));
}

}  // namespace millrace::formats::onnx
