// Elements picked by computed positions.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "formats/onnx/node/node.h"
#include "formats/onnx/operators/steps.h"
#include "formats/onnx/operators/tables.h"

namespace millrace::formats::onnx {
namespace {

std::int64_t axis_of(const Node& node, std::int64_t fallback) {
  if (node.rank(0) == 0) node.fail("the input is a scalar, expected at least one dimension");
  return normalized(node, node.attributes().integer("axis", fallback), node.rank(0));
}

void need_indices(const Node& node, std::size_t input) {
  if (node.type(input) != DataType::int64 && node.type(input) != DataType::int32)
    node.fail(fmt::format("the indices '{}' have type {}, expected int64", node.tensor(input).name,
                          to_text(node.type(input))));
}

/// Checks indices known now: `size_of_index(i)` is the dimension that the i-th one picks from.
void check_known_indices(const Node& node, auto size_of_index) {
  if (!is_known(node, 1)) return;
  const Shape indices = integers(node, 1, "the indices");
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::int64_t size = size_of_index(i);
    if (indices[i] < -size || indices[i] >= size)
      node.fail(fmt::format("the index {} is outside the dimension of {}", indices[i], size));
  }
}

/// For operators whose indices have the data's dimensions, and none larger but along the axis.
void check_element_indices(const Node& node, std::int64_t axis) {
  need_indices(node, 1);
  const Shape& data = node.shape(0);
  const Shape& indices = node.shape(1);
  bool fits = data.size() == indices.size();
  for (std::size_t i = 0; fits && i < data.size(); ++i)
    fits = indices[i] <= data[i] || static_cast<std::int64_t>(i) == axis;
  if (!fits)
    node.fail(fmt::format("the indices have the shape {}, which does not fit the data {}",
                          to_text(indices), to_text(data)));
  check_known_indices(node, [&](std::size_t) { return data[static_cast<std::size_t>(axis)]; });
}

void lower_gather_elements(Node& node) {
  const std::int64_t axis = axis_of(node, 0);
  check_element_indices(node, axis);
  node.give(0, node.add(GatherElements{axis}, node.inputs(), {node.type(0), node.shape(1)}));
}

/// How many dimensions of the data a tuple of indices picks from.
std::size_t tuple_length(const Node& node, std::size_t batch) {
  need_indices(node, 1);
  const Shape& data = node.shape(0);
  const Shape& indices = node.shape(1);
  if (indices.empty() || data.empty()) node.fail("data or indices are a scalar");
  const std::int64_t length = indices.back();
  if (length < 0 || batch >= indices.size() ||
      length > static_cast<std::int64_t>(data.size() - std::min(batch, data.size())))
    node.fail(fmt::format("the indices have the shape {}, which does not fit the data {}",
                          to_text(indices), to_text(data)));
  if (length == 0) node.fail("the indices have no elements in their last dimension");
  const auto tuple = static_cast<std::size_t>(length);
  check_known_indices(node, [&](std::size_t i) { return data[batch + i % tuple]; });
  return tuple;
}

void lower_gather_nd(Node& node) {
  const std::int64_t given = node.attributes().integer("batch_dims", 0);
  if (given < 0 || given >= std::max<std::int64_t>(1, std::min(node.rank(0), node.rank(1))))
    node.fail(
        fmt::format("the attribute 'batch_dims' is {}, which does not fit the inputs", given));
  const auto batch = static_cast<std::size_t>(given);
  const std::size_t length = tuple_length(node, batch);
  const Shape& data = node.shape(0);
  const Shape& indices = node.shape(1);
  if (!std::equal(data.begin(), data.begin() + given, indices.begin()))
    node.fail(fmt::format("the first {} dimensions of data {} and indices {} differ", given,
                          to_text(data), to_text(indices)));
  Made made{node.type(0), Shape(indices.begin(), indices.end() - 1)};
  made.shape.insert(made.shape.end(), data.begin() + static_cast<std::ptrdiff_t>(batch + length),
                    data.end());
  node.give(0, node.add(GatherNd{given}, node.inputs(), std::move(made)));
}

Reduction reduction_of(const Node& node) {
  const std::string text = node.attributes().text("reduction", "none");
  constexpr std::array<std::string_view, 5> names{"none", "add", "mul", "max", "min"};
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end())
    node.fail(fmt::format("the attribute 'reduction' is '{}', expected none, add, mul, max or min",
                          text));
  return static_cast<Reduction>(found - names.begin());
}

void need_updates(const Node& node, const Shape& shape) {
  if (node.type(2) != node.type(0) || node.shape(2) != shape)
    node.fail(fmt::format("the updates '{}' are {} {}, expected {} {}", node.tensor(2).name,
                          to_text(node.type(2)), to_text(node.shape(2)), to_text(node.type(0)),
                          to_text(shape)));
}

void lower_scatter_elements(Node& node) {
  const std::int64_t axis = axis_of(node, 0);
  check_element_indices(node, axis);
  need_updates(node, node.shape(1));
  node.give(0, node.add(ScatterElements{axis, reduction_of(node)}, node.inputs(),
                        {node.type(0), node.shape(0)}));
}

void lower_scatter_nd(Node& node) {
  const std::size_t length = tuple_length(node, 0);
  const Shape& data = node.shape(0);
  const Shape& indices = node.shape(1);
  Shape updates(indices.begin(), indices.end() - 1);
  updates.insert(updates.end(), data.begin() + static_cast<std::ptrdiff_t>(length), data.end());
  need_updates(node, updates);
  node.give(0, node.add(ScatterNd{reduction_of(node)}, node.inputs(), {node.type(0), data}));
}

std::int64_t wanted_values(const Node& node) {
  if (node.opset() < 10) return node.attributes().required_integer("k");
  return integer(node, 1, "the number of values");
}

void lower_top_k(Node& node) {
  TopK op{axis_of(node, -1), node.attributes().flag("largest", true)};
  node.attributes().flag("sorted", true);
  Made values{node.type(0), node.shape(0)};
  std::int64_t& size = values.shape[static_cast<std::size_t>(op.axis)];
  const std::int64_t k = wanted_values(node);
  if (k < 0 || k > size)
    node.fail(fmt::format("the {} best of {} values are wanted; check the number", k, size));
  size = k;
  const Made indices{DataType::int64, values.shape};
  const std::vector<TensorId> outputs = node.add(op, {node.input(0)}, {values, indices});
  for (std::size_t i = 0; i < outputs.size(); ++i) node.give(i, outputs[i]);
}

void lower_one_hot(Node& node) {
  const std::vector<double> depth = numbers(node, 1, "the depth");
  if (depth.size() != 1 || !(depth[0] >= 0) || depth[0] > 1 << 30)
    node.fail("the depth is not one number from 0 to 2^30");
  if (node.shape(2) != Shape{2})
    node.fail(
        fmt::format("the values have the shape {}, expected off and on", to_text(node.shape(2))));
  const std::int64_t rank = node.rank(0) + 1;
  const std::int64_t axis = normalized(node, node.attributes().integer("axis", -1), rank);
  Made made{node.type(2), node.shape(0)};
  made.shape.insert(made.shape.begin() + axis, static_cast<std::int64_t>(depth[0]));
  node.give(0, node.add(OneHot{axis}, {node.input(0), node.input(2)}, std::move(made)));
}

/// The largest value of each row becomes one, the others zero. Before opset 13 a row is all that
/// follows the axis.
void lower_hardmax(Node& node) {
  const std::int64_t axis = axis_of(node, node.opset() < 13 ? 1 : -1);
  Shape shape = node.shape(0);
  if (node.opset() < 13) {
    const auto row = shape.begin() + axis;
    const std::int64_t length = element_count({row, shape.end()}, node.place());
    shape.erase(row, shape.end());
    shape.push_back(length);
  }
  Shape others = shape;
  others.erase(others.begin() + axis);
  if (shape[static_cast<std::size_t>(axis)] == 0) node.fail("the axis has no elements");
  Steps steps(node);
  const TensorId rows = steps.reshaped(node.input(0), shape);
  const TensorId best = node.add(ArgMax{axis}, {rows}, {DataType::int64, others});
  const std::vector<float> off_on{0, 1};
  TensorId values = node.add_constant(make_array<float>(DataType::float32, {2}, off_on));
  if (node.type(0) != DataType::float32)
    values = node.add(Cast{}, {values}, {node.type(0), Shape{2}});
  const TensorId found = node.add(OneHot{axis}, {best, values}, {node.type(0), shape});
  node.give(0, steps.reshaped(found, node.shape(0)));
}

/// Parts of an axis, or of all elements one after the other, where a known condition holds.
void lower_compress(Node& node) {
  if (node.type(1) != DataType::boolean || node.rank(1) != 1)
    node.fail("the condition is not a list of booleans");
  TensorId x = node.input(0);
  std::int64_t axis = 0;
  if (node.attributes().has("axis")) {
    axis = axis_of(node, 0);
  } else {
    const Shape flat{element_count(node.shape(0), node.place())};
    x = node.add(Reshape{}, {x}, {node.type(0), flat});
  }
  Shape shape = node.tensor(x).shape;
  std::int64_t& size = shape[static_cast<std::size_t>(axis)];
  const std::int64_t entries = node.shape(1)[0];
  if (entries > size)
    node.fail(fmt::format("the condition has {} entries for {} elements", entries, size));
  if (!is_known(node, 1) && node.reading().purpose == Purpose::largest_sizes) {
    size = entries;
    const Slice first{Shape(shape.size(), 0), Shape(shape.size(), 1)};
    return node.give(0, node.add(first, {x}, {node.type(0), shape}));
  }
  const std::vector<double> condition = numbers(node, 1, "the condition");
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < condition.size(); ++i)
    if (condition[i] != 0) kept.push_back(static_cast<std::int64_t>(i));
  size = std::ssize(kept);
  const Array indices = make_array<std::int64_t>(DataType::int64, {size}, kept);
  node.give(0, node.add(Gather{axis}, {x, node.add_constant(indices)}, {node.type(0), shape}));
}

constexpr std::array table_of_indexing{
    OperatorEntry{"Compress", lower_compress, 2, 2, "axis"},
    OperatorEntry{"GatherElements", lower_gather_elements, 2, 2, "axis"},
    OperatorEntry{"GatherND", lower_gather_nd, 2, 2, "batch_dims"},
    OperatorEntry{"Hardmax", lower_hardmax, 1, 1, "axis"},
    OperatorEntry{"OneHot", lower_one_hot, 3, 3, "axis"},
    OperatorEntry{"Scatter", lower_scatter_elements, 3, 3, "axis"},
    OperatorEntry{"ScatterElements", lower_scatter_elements, 3, 3, "axis reduction"},
    OperatorEntry{"ScatterND", lower_scatter_nd, 3, 3, "reduction"},
    OperatorEntry{"TopK", lower_top_k, 1, 2, "axis k largest sorted"},
};

}  // namespace

std::span<const OperatorEntry> indexing_operators() { return table_of_indexing; }

}  // namespace millrace::formats::onnx
