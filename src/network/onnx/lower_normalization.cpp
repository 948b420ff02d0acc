// Normalisations, over batches, channels and probabilities.
#include <fmt/format.h>

#include <array>

#include "network/onnx/lower.h"

namespace millrace::network::onnx {
namespace {

void lower_soft(Node& node, bool log) {
  const std::int64_t rank = node.rank(0);
  if (rank == 0) node.fail("the input is a scalar, expected at least one dimension");
  Softmax op;
  op.log = log;
  op.axis = node.normalized(node.attributes().integer("axis", node.opset() < 13 ? 1 : -1), rank);
  op.end = node.opset() < 13 ? rank : op.axis + 1;
  node.give(0, node.add(op, {node.input(0)}, {node.type(0), node.shape(0)}));
}

void refuse_training(const Node& node) {
  if (node.attributes().flag("training_mode", false))
    node.fail("the attribute 'training_mode' is 1, but only inference is supported; export the "
              "model for inference");
  if (!node.attributes().flag("spatial", true))
    node.fail("the attribute 'spatial' is 0, which is not supported; expected 1");
  for (std::size_t i = 1; i < node.output_count(); ++i)
    if (node.wants(i))
      node.fail(fmt::format("output {} exists only in training; export the model for inference",
                            i));
}

}  // namespace

void lower_batch_normalization(Node& node) {
  refuse_training(node);
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

}  // namespace millrace::network::onnx
