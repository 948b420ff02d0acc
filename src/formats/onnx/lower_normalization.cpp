// Normalisations, over batches, channels and probabilities.
#include <fmt/format.h>

#include <array>
#include <numeric>

#include "formats/onnx/lower.h"

namespace millrace::formats::onnx {
namespace {

void lower_soft(Node& node, bool log) {
  const std::int64_t rank = node.rank(0);
  if (rank == 0) node.fail("the input is a scalar, expected at least one dimension");
  Softmax op;
  op.log = log;
  op.axis = normalized(node, node.attributes().integer("axis", node.opset() < 13 ? 1 : -1), rank);
  op.end = node.opset() < 13 ? rank : op.axis + 1;
  node.give(0, node.add(op, {node.input(0)}, {node.type(0), node.shape(0)}));
}

void refuse_training_outputs(const Node& node) {
  for (std::size_t i = 1; i < node.output_count(); ++i)
    if (node.wants(i))
      node.fail(fmt::format("output {} exists only in training, and something reads it; export the "
                            "model for inference",
                            i));
}

/// Before opset 14 the outputs of training say that it is meant, whether they are read or not.
bool trains(const Node& node) {
  if (node.opset() >= 14) return node.attributes().flag("training_mode", false);
  for (std::size_t i = 1; i < node.output_count(); ++i)
    if (!node.output(i).empty()) return true;
  return false;
}

/// What training would keep of a moment: the old one's share is `momentum`.
void give_moving(Node& node, std::size_t output, std::size_t old, TensorId now) {
  if (!node.wants(output)) return;
  const Made made{node.type(0), {node.shape(0)[1]}};
  const auto share = [&](TensorId id, float factor) {
    const std::vector<float> values{factor};
    TensorId constant = node.add_constant(make_array<float>(DataType::float32, {1}, values));
    if (made.type != DataType::float32) constant = node.add(Cast{}, {constant}, {made.type, {1}});
    return node.add(Binary{BinaryKind::mul}, {id, constant}, made);
  };
  const float momentum = node.attributes().number("momentum", 0.9f);
  const TensorId before = share(node.input(old), momentum), after = share(now, 1 - momentum);
  node.give(output, node.add(Binary{BinaryKind::add}, {before, after}, made));
}

void give_moving_moments(Node& node) {
  Reduce mean;
  for (std::int64_t axis = 0; axis < node.rank(0); ++axis)
    if (axis != 1) mean.axes.push_back(axis);
  const Shape shape = node.shape(0);
  Made per_channel{node.type(0), Shape(shape.size(), 1)};
  per_channel.shape[1] = shape[1];
  const Made list{node.type(0), {shape[1]}}, all{node.type(0), shape};
  const TensorId centre = node.add(mean, {node.input(0)}, per_channel);
  const TensorId distance = node.add(Binary{BinaryKind::sub}, {node.input(0), centre}, all);
  const TensorId square = node.add(Binary{BinaryKind::mul}, {distance, distance}, all);
  give_moving(node, 1, 3, node.add(Reshape{}, {centre}, list));
  give_moving(node, 2, 4, node.add(mean, {square}, list));
}

/// By mean and variance of the batch itself, as networks standardise their weights.
void normalize_by_batch(Node& node) {
  const Shape shape = node.shape(0);
  Shape order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[1]);
  Made moved{node.type(0), shape};
  std::swap(moved.shape[0], moved.shape[1]);
  Made per_channel{node.type(0), Shape(shape.size(), 1)};
  per_channel.shape[0] = shape[1];
  Normalization op;
  op.axis = 1;
  op.epsilon = node.attributes().number("epsilon", 1e-5f);
  const TensorId x = node.add(Transpose{order}, {node.input(0)}, moved);
  const TensorId scale = node.add(Reshape{}, {node.input(1)}, per_channel);
  const TensorId bias = node.add(Reshape{}, {node.input(2)}, per_channel);
  const TensorId y = node.add(op, {x, scale, bias}, moved);
  node.give(0, node.add(Transpose{order}, {y}, {node.type(0), shape}));
}

}  // namespace

void lower_batch_normalization(Node& node) {
  if (!node.attributes().flag("spatial", true) && node.rank(0) != 2)  // positions are channels
    node.fail("the attribute 'spatial' is 0, which is not supported; expected 1");
  const bool by_batch = trains(node);
  if (!by_batch || node.opset() < 14) refuse_training_outputs(node);
  const Shape shape = node.shape(0);
  if (shape.size() < 2)
    node.fail(fmt::format("the input has the shape {}, expected batch and channels",
                          to_text(shape)));
  constexpr std::array<std::string_view, 5> roles{"input", "scale", "bias", "mean", "variance"};
  for (std::size_t i = 1; i < roles.size(); ++i) {
    if (node.shape(i) != Shape{shape[1]})
      node.fail(fmt::format("the {} '{}' has shape {}, expected {} like the input's channels",
                            roles[i], node.tensor(i).name, to_text(node.shape(i)), shape[1]));
    if (node.type(i) != node.type(0))
      node.fail(fmt::format("the {} '{}' has type {}, expected {} like the input", roles[i],
                            node.tensor(i).name, to_text(node.type(i)), to_text(node.type(0))));
  }
  if (by_batch) {
    normalize_by_batch(node);
    return node.opset() < 14 ? void() : give_moving_moments(node);
  }
  const BatchNormalization op{node.attributes().number("epsilon", 1e-5f)};
  node.give(0, node.add(op, node.inputs(), {node.type(0), shape}));
}

void lower_lrn(Node& node) {
  if (node.rank(0) < 2)
    node.fail(fmt::format("the input has the shape {}, expected batch and channels",
                          to_text(node.shape(0))));
  Lrn op;
  op.size = node.attributes().required_integer("size");
  if (op.size < 1 || op.size > (1 << 30))
    node.fail(fmt::format("the attribute 'size' is {}, expected 1 to 2^30", op.size));
  op.alpha = node.attributes().number("alpha", 1e-4f);
  op.beta = node.attributes().number("beta", 0.75f);
  op.bias = node.attributes().number("bias", 1);
  node.give(0, node.add(op, {node.input(0)}, {node.type(0), node.shape(0)}));
}

void lower_softmax(Node& node) { lower_soft(node, false); }
void lower_log_softmax(Node& node) { lower_soft(node, true); }

}  // namespace millrace::formats::onnx
