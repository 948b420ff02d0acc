// Networks made for small machines: SqueezeNet 1.1, MobileNet v1 and v2.
#include <fmt/format.h>

#include <array>

#include "formats/zoo/architectures.h"

namespace millrace::formats::zoo {
namespace {

/// A 3x3 convolution of each channel by itself.
Value depthwise(Builder& net, const std::string& name, const Value& x, std::int64_t stride) {
  return conv_bn(
      net, name, x,
      {.outputs = x.channels(), .kernel = 3, .stride = stride, .pad = 1, .groups = x.channels()});
}

Value fire(Builder& net, int number, const Value& x, std::int64_t squeeze) {
  const std::string name = fmt::format("fire{}/", number);
  const Value squeezed = relu(net, conv(net, name + "squeeze1x1", x, {.outputs = squeeze}));
  const Value one = relu(net, conv(net, name + "expand1x1", squeezed, {.outputs = 4 * squeeze}));
  const Value three = relu(net, conv(net, name + "expand3x3", squeezed,
                                     {.outputs = 4 * squeeze, .kernel = 3, .pad = 1}));
  return concat(net, name + "concat", {one, three});
}

struct Inverted {
  std::int64_t expansion, outputs, stride;
};

/// Expand, filter each channel, project without activation; a shortcut where the shapes agree.
Value inverted_residual(Builder& net, const std::string& name, const Value& x,
                        const Inverted& spec) {
  Value y = x;
  if (spec.expansion != 1)
    y = relu6(net, conv_bn(net, name + "_expand", y, {.outputs = spec.expansion * x.channels()}));
  y = relu6(net, depthwise(net, name + "_depthwise", y, spec.stride));
  const bool shortcut = spec.stride == 1 && spec.outputs == x.channels();
  y = conv_bn(net, name + "_project", y, {.outputs = spec.outputs, .gain = shortcut ? 0.5f : 1.0f});
  return shortcut ? add(net, name + "_add", x, y) : y;
}

}  // namespace

std::string squeezenet1_1(Builder& net, const Value& image) {
  const PoolSpec halve{.kernel = 3, .stride = 2};
  Value x = relu(net, conv(net, "conv1", image, {.outputs = 64, .kernel = 3, .stride = 2}));
  x = max_pool(net, "pool1", x, halve);
  x = fire(net, 3, fire(net, 2, x, 16), 16);
  x = max_pool(net, "pool3", x, halve);
  x = fire(net, 5, fire(net, 4, x, 32), 32);
  x = max_pool(net, "pool5", x, halve);
  x = fire(net, 7, fire(net, 6, x, 48), 48);
  x = fire(net, 9, fire(net, 8, x, 64), 64);
  x = relu(net, conv(net, "conv10", dropout(net, x), {.outputs = 1000}));
  return net.finish(softmax(net, global_average_pool(net, "pool10", x)));
}

std::string mobilenet_v1(Builder& net, const Value& image) {
  struct Row {
    std::int64_t stride, outputs;
  };
  constexpr std::array<Row, 13> rows{{{1, 64}, {2, 128}, {1, 128}, {2, 256}, {1, 256},
                                      {2, 512}, {1, 512}, {1, 512}, {1, 512}, {1, 512},
                                      {1, 512}, {2, 1024}, {1, 1024}}};
  Value x =
      relu(net, conv_bn(net, "conv1", image, {.outputs = 32, .kernel = 3, .stride = 2, .pad = 1}));
  for (int i = 2; const Row& row : rows) {
    x = relu(net, depthwise(net, fmt::format("conv{}_depthwise", i), x, row.stride));
    x = relu(net, conv_bn(net, fmt::format("conv{}_pointwise", i), x, {.outputs = row.outputs}));
    ++i;
  }
  x = flatten(net, global_average_pool(net, "pool", x));
  return net.finish(softmax(net, fully_connected(net, "fc", x, 1000)));
}

std::string mobilenet_v2(Builder& net, const Value& image) {
  struct Row {
    std::int64_t expansion, outputs;
    int count;
    std::int64_t stride;
  };
  constexpr std::array<Row, 7> rows{{{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2},
                                     {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}}};
  Value x =
      relu6(net, conv_bn(net, "conv1", image, {.outputs = 32, .kernel = 3, .stride = 2, .pad = 1}));
  for (int block = 1; const Row& row : rows) {
    for (int i = 1; i <= row.count; ++i)
      x = inverted_residual(net, fmt::format("block{}_{}", block, i), x,
                            {row.expansion, row.outputs, i == 1 ? row.stride : 1});
    ++block;
  }
  x = relu6(net, conv_bn(net, "conv2", x, {.outputs = 1280}));
  x = flatten(net, global_average_pool(net, "pool", x));
  return net.finish(fully_connected(net, "fc", x, 1000));
}

}  // namespace millrace::formats::zoo
