// Convolutions and pools.
#include <fmt/format.h>

#include "formats/onnx/lower.h"
#include "formats/onnx/quantized.h"
#include "formats/onnx/window.h"

namespace millrace::formats::onnx {
namespace {

/// Which inputs a convolution has where.
struct ConvInputs {
  std::size_t weight = 1, bias = 2;
};

void check_weight(const Node& node, const Tensor& weight, std::int64_t groups) {
  const Shape& shape = node.shape(0);
  if (weight.shape.size() != shape.size())
    node.fail(fmt::format("the weight '{}' has shape {}, expected {} dimensions like the input",
                          weight.name, to_text(weight.shape), shape.size()));
  if (groups < 1 || groups > shape[1] || shape[1] % groups != 0 || weight.shape[0] % groups != 0)
    node.fail(fmt::format("the attribute 'group' is {}, which divides not both the input's {} and "
                          "the output's {} channels",
                          groups, shape[1], weight.shape[0]));
  if (weight.shape[1] != shape[1] / groups)
    node.fail(fmt::format("the weight '{}' has shape {}, but the input has {} channels in {} "
                          "groups: expected {} in its second dimension",
                          weight.name, to_text(weight.shape), shape[1], groups,
                          shape[1] / groups));
}

void check_bias(const Node& node, std::size_t bias, std::int64_t channels) {
  if (node.has(bias) && node.shape(bias) != Shape{channels})
    node.fail(fmt::format("the bias '{}' has shape {}, expected {}", node.tensor(bias).name,
                          to_text(node.shape(bias)), channels));
}

Shape with_spatial(std::int64_t batch, std::int64_t channels, const Shape& spatial) {
  Shape result{batch, channels};
  result.insert(result.end(), spatial.begin(), spatial.end());
  return result;
}

/// Fills in window and groups; the output's shape.
template <class Convolution>
Shape read_convolution(const Node& node, const ConvInputs& inputs, Convolution& conv) {
  const Shape sizes = spatial_sizes(node, node.shape(0));
  const Tensor& weight = node.tensor(inputs.weight);
  conv.groups = node.attributes().integer("group", 1);
  check_weight(node, weight, conv.groups);
  check_bias(node, inputs.bias, weight.shape[0]);
  conv.window =
      read_window(node, sizes.size(), Shape(weight.shape.begin() + 2, weight.shape.end()));
  const Shape result = slide(node, sizes, false, conv.window);
  return with_spatial(node.shape(0)[0], weight.shape[0], result);
}

Pool read_pool(const Node& node, PoolKind kind, std::size_t dimensions) {
  Pool pool;
  pool.kind = kind;
  pool.window = read_window(node, dimensions, {});
  return pool;
}

Shape pooled(const Node& node, Pool& pool) {
  const Shape& shape = node.shape(0);
  const Shape sizes = spatial_sizes(node, shape);
  const bool round_up = node.attributes().flag("ceil_mode", false);
  return with_spatial(shape[0], shape[1], slide(node, sizes, round_up, pool.window));
}

void lower_global_pool(Node& node, PoolKind kind) {
  const Shape sizes = spatial_sizes(node, node.shape(0));
  const Shape ones(sizes.size(), 1);
  const Shape zeros(sizes.size(), 0);
  for (const std::int64_t size : sizes)
    if (size == 0) node.fail("the input has no elements to pool");
  const Made made{node.type(0), with_spatial(node.shape(0)[0], node.shape(0)[1], ones)};
  const Pool pool{kind, {sizes, ones, ones, zeros, zeros}, false, false};
  node.give(0, node.add(pool, {node.input(0)}, made));
}

}  // namespace

TensorId convolved(Node& node, std::size_t inputs) {
  need_same_types(node);
  Conv conv;
  const Made made{node.type(0), read_convolution(node, {}, conv)};
  std::vector<TensorId> of{node.input(0), node.input(1)};
  if (inputs > 2 && node.has(2)) of.push_back(node.input(2));
  return node.add(std::move(conv), std::move(of), made);
}

void lower_conv(Node& node) { node.give(0, convolved(node, 3)); }

void lower_conv_integer(Node& node) {
  check_factors(node, {.values = 0, .zero = 2}, {.values = 1, .zero = 3});
  constexpr std::size_t no_bias = 4;
  ConvInteger conv;
  const Made made{DataType::int32, read_convolution(node, {1, no_bias}, conv)};
  check_single(node, 2);
  check_single_or(node, 3, {Shape{made.shape[1]}});
  node.give(0, node.add(std::move(conv), node.optional_inputs(), made));
}

void lower_q_linear_conv(Node& node) {
  check_quantized(node);
  QLinearConv conv;
  const Made made{node.type(7), read_convolution(node, {3, 8}, conv)};
  for (const std::size_t input : {1, 2, 6, 7}) check_single(node, input);
  for (const std::size_t input : {4, 5}) check_single_or(node, input, {Shape{made.shape[1]}});
  if (node.has(8) && node.type(8) != DataType::int32)
    node.fail(fmt::format("the bias '{}' has type {}, expected int32", node.tensor(8).name,
                          to_text(node.type(8))));
  node.give(0, node.add(std::move(conv), node.inputs(), made));
}

void lower_max_pool(Node& node) {
  Pool pool = read_pool(node, PoolKind::max, spatial_sizes(node, node.shape(0)).size());
  pool.column_major_indices = node.attributes().flag("storage_order", false);
  const Shape shape = pooled(node, pool);
  std::vector<std::optional<Made>> made{Made{node.type(0), shape}};
  if (node.wants(1)) made.push_back(Made{DataType::int64, shape});
  const std::vector<TensorId> outputs = node.add(std::move(pool), {node.input(0)}, made);
  for (std::size_t i = 0; i < outputs.size(); ++i) node.give(i, outputs[i]);
}

void lower_average_pool(Node& node) {
  Pool pool = read_pool(node, PoolKind::average, spatial_sizes(node, node.shape(0)).size());
  pool.count_include_pad = node.attributes().flag("count_include_pad", false);
  const Made made{node.type(0), pooled(node, pool)};
  node.give(0, node.add(std::move(pool), {node.input(0)}, made));
}

void lower_global_max_pool(Node& node) { lower_global_pool(node, PoolKind::max); }
void lower_global_average_pool(Node& node) { lower_global_pool(node, PoolKind::average); }

}  // namespace millrace::formats::onnx
