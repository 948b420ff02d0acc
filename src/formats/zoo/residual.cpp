// Networks with shortcuts: ResNet-18 and ResNet-50 (the stride in the 3x3 convolutions),
// DenseNet-121.
#include <fmt/format.h>

#include <array>

#include "formats/zoo/architectures.h"

namespace millrace::formats::zoo {
namespace {

/// 7x7 convolution and 3x3 pool, from 224x224 to 56x56 pixels.
Value stem(Builder& net, const Value& image) {
  const Value x =
      relu(net, conv_bn(net, "conv1", image, {.outputs = 64, .kernel = 7, .stride = 2, .pad = 3}));
  return max_pool(net, "pool1", x, {.kernel = 3, .stride = 2, .pad = 1, .pad_end = 1});
}

Value join(Builder& net, const std::string& name, const Value& branch, const Value& x) {
  const std::int64_t stride = x.shape[2] / branch.shape[2];
  const Value shortcut =
      branch.shape == x.shape
          ? x
          : conv_bn(net, name + "_shortcut", x, {.outputs = branch.channels(), .stride = stride});
  return relu(net, add(net, name + "_add", branch, shortcut));
}

Value basic_block(Builder& net, const std::string& name, const Value& x, const ConvSpec& spec) {
  Value y = relu(net, conv_bn(net, name + "_conv1", x, spec));
  y = conv_bn(net, name + "_conv2", y,
              {.outputs = spec.outputs, .kernel = 3, .pad = 1, .gain = branch_gain});
  return join(net, name, y, x);
}

Value bottleneck(Builder& net, const std::string& name, const Value& x, const ConvSpec& spec) {
  Value y = relu(net, conv_bn(net, name + "_conv1", x, {.outputs = spec.outputs}));
  y = relu(net, conv_bn(net, name + "_conv2", y, spec));
  y = conv_bn(net, name + "_conv3", y, {.outputs = 4 * spec.outputs, .gain = branch_gain});
  return join(net, name, y, x);
}

using ResidualBlock = Value (*)(Builder&, const std::string&, const Value&, const ConvSpec&);

std::string resnet(Builder& net, const Value& image, ResidualBlock block,
                   const std::array<int, 4>& counts) {
  Value x = stem(net, image);
  std::int64_t width = 64;
  for (int stage = 2; const int count : counts) {
    for (int i = 1; i <= count; ++i)
      x = block(net, fmt::format("conv{}_{}", stage, i), x,
                {.outputs = width, .kernel = 3, .stride = stage > 2 && i == 1 ? 2 : 1, .pad = 1});
    width *= 2;
    ++stage;
  }
  x = flatten(net, global_average_pool(net, "pool5", x));
  return net.finish(softmax(net, fully_connected(net, "fc", x, 1000)));
}

/// 1x1 and 3x3 convolution; their 32 new channels are appended to all earlier ones.
Value dense_layer(Builder& net, const std::string& name, const Value& x) {
  constexpr std::int64_t growth = 32;
  Value y = relu(net, batch_norm(net, name + "_bn1", x));
  y = relu(net, conv_bn(net, name + "_conv1", y, {.outputs = 4 * growth}));
  y = conv(net, name + "_conv2", y, {.outputs = growth, .kernel = 3, .pad = 1, .bias = false});
  return concat(net, name, {x, y});
}

/// Half the channels, half the width and height.
Value transition(Builder& net, const std::string& name, const Value& x) {
  Value y = relu(net, batch_norm(net, name + "_bn", x));
  y = conv(net, name + "_conv", y, {.outputs = x.channels() / 2, .bias = false});
  return average_pool(net, name, y, {.kernel = 2, .stride = 2});
}

}  // namespace

std::string resnet18(Builder& net, const Value& image) {
  return resnet(net, image, basic_block, {2, 2, 2, 2});
}

std::string resnet50(Builder& net, const Value& image) {
  return resnet(net, image, bottleneck, {3, 4, 6, 3});
}

std::string densenet121(Builder& net, const Value& image) {
  constexpr std::array<int, 4> counts{6, 12, 24, 16};
  Value x = stem(net, image);
  for (int block = 2; const int count : counts) {
    for (int i = 1; i <= count; ++i) x = dense_layer(net, fmt::format("conv{}_{}", block, i), x);
    if (block < 5) x = transition(net, fmt::format("pool{}", block), x);
    ++block;
  }
  x = global_average_pool(net, "pool5", relu(net, batch_norm(net, "conv5_bn", x)));
  return net.finish(fully_connected(net, "fc6", flatten(net, x), 1000));
}

}  // namespace millrace::formats::zoo
