#pragma once
// Building blocks of the networks of network_samples.cpp. BatchNormalization is folded into them.
#include "support/network_builder.h"

namespace millrace::counting {

using network::UnaryKind;
using test::NetworkBuilder;

enum class Activation { none, relu, swish, hard_swish };
TensorId activate(NetworkBuilder& net, TensorId x, Activation activation);

struct ConvOptions {
  std::int64_t kernel = 1, stride = 1, groups = 1;
  Activation activation = Activation::none;
};
/// Padded by half its kernel.
TensorId conv_block(NetworkBuilder& net, TensorId x, std::int64_t filters,
                    const ConvOptions& options);

TensorId global_average(NetworkBuilder& net, TensorId x);
TensorId max_pool(NetworkBuilder& net, TensorId x, std::int64_t kernel, std::int64_t stride);
/// Every pixel becomes two by two.
TensorId enlarge(NetworkBuilder& net, TensorId x);
TensorId reshape(NetworkBuilder& net, TensorId x, network::Shape shape);
TensorId transpose(NetworkBuilder& net, TensorId x, network::Shape permutation);
/// The last dimension of x through a matrix and a bias.
TensorId dense(NetworkBuilder& net, TensorId x, std::int64_t outputs);
/// x times its share of the sum over the last dimension.
TensorId softmax(NetworkBuilder& net, TensorId x);
TensorId layer_norm(NetworkBuilder& net, TensorId x);

struct Attention {
  std::int64_t heads = 1, mlp = 1;  // mlp: neurons of the hidden layer
  Activation activation = Activation::none;  // none: gelu
};
/// A block of a transformer over x [1, tokens, width], normalised before each half.
TensorId transformer(NetworkBuilder& net, TensorId x, const Attention& attention);

}  // namespace millrace::counting
