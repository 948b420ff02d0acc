#include "blocks.h"

#include <cmath>

namespace millrace::counting {

using network::Shape;
using test::window;

TensorId activate(NetworkBuilder& net, TensorId x, Activation activation) {
  switch (activation) {
    case Activation::relu:
      return net.unary(UnaryKind::relu, x);
    case Activation::swish:
      return net.binary(network::BinaryKind::mul, x, net.unary(UnaryKind::sigmoid, x));
    case Activation::hard_swish:
      return net.unary(UnaryKind::hard_swish, x);
    case Activation::none:
      break;
  }
  return x;
}

TensorId conv_block(NetworkBuilder& net, TensorId x, std::int64_t filters,
                    const ConvOptions& options) {
  const test::WindowOptions padded{.stride = options.stride, .pad = options.kernel / 2};
  return activate(net, net.conv(x, filters, window(options.kernel, padded), options.groups),
                  options.activation);
}

TensorId global_average(NetworkBuilder& net, TensorId x) {
  const Shape& shape = net.shape(x);
  network::Window whole = window(1);
  whole.kernel = {shape[2], shape[3]};
  return net.pool({network::PoolKind::average, whole}, x);
}

TensorId max_pool(NetworkBuilder& net, TensorId x, std::int64_t kernel, std::int64_t stride) {
  return net.pool({network::PoolKind::max, window(kernel, {.stride = stride, .pad = kernel / 2})},
                  x);
}

TensorId enlarge(NetworkBuilder& net, TensorId x) {
  Shape larger = net.shape(x);
  larger[2] *= 2;
  larger[3] *= 2;
  network::Resize op;
  op.coordinates = network::Coordinates::asymmetric;
  op.nearest = network::NearestMode::floor;
  op.scales = {1, 1, 2, 2};
  return net.layer(op, {x}, larger);
}

TensorId reshape(NetworkBuilder& net, TensorId x, Shape shape) {
  return net.layer(network::Reshape{}, {x}, std::move(shape));
}

TensorId transpose(NetworkBuilder& net, TensorId x, Shape permutation) {
  Shape result;
  for (const std::int64_t from : permutation)
    result.push_back(net.shape(x)[static_cast<std::size_t>(from)]);
  return net.layer(network::Transpose{std::move(permutation)}, {x}, result);
}

TensorId dense(NetworkBuilder& net, TensorId x, std::int64_t outputs) {
  Shape result = net.shape(x);
  const std::int64_t inputs = result.back();
  result.back() = outputs;
  const double most = std::sqrt(3 / static_cast<double>(inputs));
  const TensorId y =
      net.layer(network::MatMul{}, {x, net.constant({inputs, outputs}, {-most, most})}, result);
  return net.binary(network::BinaryKind::add, y, net.constant(Shape{outputs}));
}

TensorId softmax(NetworkBuilder& net, TensorId x) {
  const auto rank = static_cast<std::int64_t>(net.shape(x).size());
  return net.layer(network::Softmax{rank - 1, rank}, {x}, net.shape(x));
}

TensorId layer_norm(NetworkBuilder& net, TensorId x) {
  const Shape last{net.shape(x).back()};
  const auto axis = static_cast<std::int64_t>(net.shape(x).size()) - 1;
  return net.layer(network::Normalization{axis}, {x, net.constant(last), net.constant(last)},
                   net.shape(x));
}

namespace {

/// [1, tokens, width] to [1, heads, tokens, width / heads].
TensorId by_head(NetworkBuilder& net, TensorId x, std::int64_t heads) {
  const Shape shape = net.shape(x);
  return transpose(net, reshape(net, x, {1, shape[1], heads, shape[2] / heads}), {0, 2, 1, 3});
}

TensorId attend(NetworkBuilder& net, TensorId x, std::int64_t heads) {
  const Shape shape = net.shape(x);
  const std::int64_t tokens = shape[1], width = shape[2], size = width / heads;
  const auto parts = net.split(2, dense(net, x, 3 * width), {width, width, width});
  const TensorId query = by_head(net, parts[0], heads);
  const TensorId key = transpose(net, by_head(net, parts[1], heads), {0, 1, 3, 2});
  const TensorId products =
      net.layer(network::MatMul{}, {query, key}, {1, heads, tokens, tokens});
  const double scale = 1 / std::sqrt(static_cast<double>(size));
  const TensorId scaled = net.binary(network::BinaryKind::mul, products,
                                     net.constant(Shape{1}, {scale, scale * 1.001}));
  const TensorId mixed =
      net.layer(network::MatMul{}, {softmax(net, scaled), by_head(net, parts[2], heads)},
                {1, heads, tokens, size});
  return dense(net, reshape(net, transpose(net, mixed, {0, 2, 1, 3}), shape), width);
}

}  // namespace

TensorId transformer(NetworkBuilder& net, TensorId x, const Attention& attention) {
  const auto add = network::BinaryKind::add;
  x = net.binary(add, x, attend(net, layer_norm(net, x), attention.heads));
  const std::int64_t width = net.shape(x).back();
  const TensorId hidden = dense(net, layer_norm(net, x), attention.mlp);
  const TensorId active = attention.activation == Activation::none
                              ? net.unary(UnaryKind::gelu, hidden)
                              : activate(net, hidden, attention.activation);
  return net.binary(add, x, dense(net, active, width));
}

}  // namespace millrace::counting
