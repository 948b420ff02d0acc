// Normalisation over layers, groups and instances.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "formats/onnx/node/node.h"
#include "formats/onnx/operators/tables.h"

namespace millrace::formats::onnx {
namespace {

TensorId with_shape(Node& node, TensorId id, const Shape& shape) {
  if (node.tensor(id).shape == shape) return id;
  const DataType type = node.tensor(id).type;
  return node.add(Reshape{}, {id}, {type, shape});
}

void need_type_of_input(const Node& node) {
  for (std::size_t i = 1; i < node.optional_inputs().size(); ++i)
    if (node.has(i) && node.type(i) != node.type(0))
      node.fail(fmt::format("the input '{}' has type {}, expected {} like the first input",
                            node.tensor(i).name, to_text(node.type(i)), to_text(node.type(0))));
}

void need_spread(const Node& node, std::size_t input) {
  if (node.has(input) && broadcast(node.shape(0), node.shape(input)) != node.shape(0))
    node.fail(fmt::format("the input '{}' has shape {}, which does not spread over the input {}",
                          node.tensor(input).name, to_text(node.shape(input)),
                          to_text(node.shape(0))));
}

/// Scale and bias have one value for each of these.
void need_values(const Node& node, std::int64_t count) {
  for (std::size_t i = 1; i < 3; ++i)
    if (node.shape(i) != Shape{count})
      node.fail(fmt::format("the input '{}' has shape {}, expected {}", node.tensor(i).name,
                            to_text(node.shape(i)), count));
}

/// Moments have the type of the computation; results of Normalization have the input's.
void give_moment(Node& node, std::size_t output, TensorId id) {
  if (!node.wants(output)) return;
  const Shape shape = node.tensor(id).shape;
  if (node.tensor(id).type == DataType::float32) return node.give(output, id);
  node.give(output, node.add(Cast{}, {id}, {DataType::float32, shape}));
}

void lower_layer_normalization(Node& node) {
  need_type_of_input(node);
  need_spread(node, 1);
  need_spread(node, 2);
  if (node.rank(0) == 0) node.fail("the input is a scalar, expected at least one dimension");
  Normalization op;
  op.axis = normalized(node, node.attributes().integer("axis", -1), node.rank(0));
  op.epsilon = node.attributes().number("epsilon", 1e-5f);
  const Made made{node.type(0), node.shape(0)};
  if (!node.wants(1) && !node.wants(2)) return node.give(0, node.add(op, node.inputs(), made));
  Made moment = made;
  std::fill(moment.shape.begin() + op.axis, moment.shape.end(), 1);
  const std::vector<TensorId> outputs = node.add(op, node.inputs(), {made, moment, moment});
  node.give(0, outputs[0]);
  give_moment(node, 1, outputs[1]);
  give_moment(node, 2, outputs[2]);
}

void lower_rms_normalization(Node& node) {
  need_type_of_input(node);
  need_spread(node, 1);
  if (node.rank(0) == 0) node.fail("the input is a scalar, expected at least one dimension");
  Normalization op;
  op.centred = false;
  op.axis = normalized(node, node.attributes().integer("axis", -1), node.rank(0));
  op.epsilon = node.attributes().number("epsilon", 1e-5f);
  node.give(0, node.add(op, node.inputs(), {node.type(0), node.shape(0)}));
}

Shape need_channels(const Node& node) {
  need_type_of_input(node);
  if (node.rank(0) < 2)
    node.fail(fmt::format("the input has the shape {}, expected batch and channels",
                          to_text(node.shape(0))));
  return node.shape(0);
}

void lower_instance_normalization(Node& node) {
  const Shape shape = need_channels(node);
  need_values(node, shape[1]);
  Shape per_channel(shape.size() - 1, 1);
  per_channel[0] = shape[1];
  Normalization op;
  op.axis = 2;
  op.epsilon = node.attributes().number("epsilon", 1e-5f);
  const TensorId scale = with_shape(node, node.input(1), per_channel);
  const TensorId bias = with_shape(node, node.input(2), per_channel);
  node.give(0, node.add(op, {node.input(0), scale, bias}, {node.type(0), shape}));
}

/// Over the channels of a group and all positions. Scale and bias are per group before opset 21.
void lower_group_normalization(Node& node) {
  const Shape shape = need_channels(node);
  const std::int64_t groups = node.attributes().required_integer("num_groups");
  if (groups < 1 || shape[1] % groups != 0)
    node.fail(fmt::format("the {} channels of the input cannot be divided into {} groups", shape[1],
                          groups));
  const bool per_group = node.opset() < 21;
  need_values(node, per_group ? groups : shape[1]);
  Shape grouped{shape[0], groups, shape[1] / groups};
  grouped.insert(grouped.end(), shape.begin() + 2, shape.end());
  Shape values(grouped.size() - 1, 1);
  values[0] = groups;
  if (!per_group) values[1] = grouped[2];
  Normalization op;
  op.axis = 2;
  op.epsilon = node.attributes().number("epsilon", 1e-5f);
  const TensorId x = with_shape(node, node.input(0), grouped);
  const TensorId scale = with_shape(node, node.input(1), values);
  const TensorId bias = with_shape(node, node.input(2), values);
  const TensorId result = node.add(op, {x, scale, bias}, {node.type(0), grouped});
  node.give(0, with_shape(node, result, shape));
}

/// The dimensions that stay come first, so that those to normalise over follow each other.
void lower_mean_variance_normalization(Node& node) {
  const Shape shape = node.shape(0);
  Shape axes = node.attributes().integers("axes").value_or(Shape{0, 2, 3});
  for (std::int64_t& axis : axes) axis = normalized(node, axis, node.rank(0));
  std::sort(axes.begin(), axes.end());
  if (axes.empty() || std::adjacent_find(axes.begin(), axes.end()) != axes.end())
    node.fail("'axes' is empty, or has an axis twice");
  Shape order;
  for (std::int64_t i = 0; i < node.rank(0); ++i)
    if (!std::binary_search(axes.begin(), axes.end(), i)) order.push_back(i);
  Normalization op;
  op.axis = std::ssize(order);
  op.epsilon = 1e-18f;
  order.insert(order.end(), axes.begin(), axes.end());
  Made moved{node.type(0), {}};
  Shape back(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    moved.shape.push_back(shape[static_cast<std::size_t>(order[i])]);
    back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  }
  const TensorId x = node.add(Transpose{order}, {node.input(0)}, moved);
  const TensorId y = node.add(op, {x}, moved);
  node.give(0, node.add(Transpose{back}, {y}, {node.type(0), shape}));
}

void lower_lp_normalization(Node& node) {
  if (node.rank(0) == 0) node.fail("the input is a scalar, expected at least one dimension");
  const std::int64_t axis = normalized(node, node.attributes().integer("axis", -1), node.rank(0));
  const std::int64_t p = node.attributes().integer("p", 2);
  if (p != 1 && p != 2) node.fail(fmt::format("the attribute 'p' is {}, expected 1 or 2", p));
  const Shape shape = node.shape(0);
  Shape one = shape;
  one[static_cast<std::size_t>(axis)] = 1;
  const TensorId norm = node.add(Reduce{p == 1 ? ReduceKind::l1 : ReduceKind::l2, {axis}},
                                 {node.input(0)}, {node.type(0), one});
  // Zeros stay zeros.
  constexpr double smallest = std::numeric_limits<float>::min();
  constexpr double largest = std::numeric_limits<double>::infinity();
  const TensorId divisor =
      node.add(Unary{UnaryKind::clip, smallest, largest}, {norm}, {node.type(0), one});
  node.give(0, node.add(Binary{BinaryKind::div}, {node.input(0), divisor}, {node.type(0), shape}));
}

constexpr std::array table_of_normalizations{
    OperatorEntry{"GroupNormalization", lower_group_normalization, 3, 3,
                  "epsilon num_groups stash_type"},
    OperatorEntry{"InstanceNormalization", lower_instance_normalization, 3, 3, "epsilon"},
    OperatorEntry{"LayerNormalization", lower_layer_normalization, 2, 3, "axis epsilon stash_type"},
    OperatorEntry{"LpNormalization", lower_lp_normalization, 1, 1, "axis p"},
    OperatorEntry{"MeanVarianceNormalization", lower_mean_variance_normalization, 1, 1, "axes"},
    OperatorEntry{"RMSNormalization", lower_rms_normalization, 2, 2, "axis epsilon stash_type"},
    OperatorEntry{"SimplifiedLayerNormalization", lower_rms_normalization, 2, 2,
                  "axis epsilon stash_type"},
};

}  // namespace

std::span<const OperatorEntry> normalization_operators() { return table_of_normalizations; }

}  // namespace millrace::formats::onnx
