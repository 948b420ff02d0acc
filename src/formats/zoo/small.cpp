// Networks made for small machines: SqueezeNet 1.1, MobileNet v1 and v2.
#include <fmt/format.h>

#include <array>

#include "formats/zoo/architectures.h"

namespace millrace::formats::zoo {
namespace {

/// A 3x3 convolution of each channel by itself.
Value depthwise(Builder& net, const std::string& name, const Value& x, std::int64_t stride) {
  return net.conv_bn(name, x,
                 {.outputs = x.channels(), .kernel = 3, .stride = stride, .pad = 1,
                  .groups = x.channels()});
}

Value fire(Builder& net, int number, const Value& x, std::int64_t squeeze) {
  const std::string name = fmt::format("fire{}/", number);
  const Value squeezed = net.relu(net.conv(name + "squeeze1x1", x, {.outputs = squeeze}));
  const Value one = net.relu(net.conv(name + "expand1x1", squeezed, {.outputs = 4 * squeeze}));
  const Value three = net.relu(net.conv(name + "expand3x3", squeezed,
                                        {.outputs = 4 * squeeze, .kernel = 3, .pad = 1}));
  return net.concat(name + "concat", {one, three});
}

struct Inverted {
  std::int64_t expansion, outputs, stride;
};

/// Expand, filter each channel, project without activation; a shortcut where the shapes agree.
Value inverted_residual(Builder& net, const std::string& name, const Value& x,
                        const Inverted& spec) {
  Value y = x;
  if (spec.expansion != 1)
    y = net.relu6(net.conv_bn(name + "_expand", y, {.outputs = spec.expansion * x.channels()}));
  y = net.relu6(depthwise(net, name + "_depthwise", y, spec.stride));
  const bool shortcut = spec.stride == 1 && spec.outputs == x.channels();
  y = net.conv_bn(name + "_project", y, {.outputs = spec.outputs}, shortcut ? 0.5f : 1.0f);
  return shortcut ? net.add(name + "_add", x, y) : y;
}

}  // namespace

std::string squeezenet1_1(Builder& net, const Value& image) {
  const PoolSpec halve{.kernel = 3, .stride = 2};
  Value x = net.relu(net.conv("conv1", image, {.outputs = 64, .kernel = 3, .stride = 2}));
  x = net.max_pool("pool1", x, halve);
  x = fire(net, 3, fire(net, 2, x, 16), 16);
  x = net.max_pool("pool3", x, halve);
  x = fire(net, 5, fire(net, 4, x, 32), 32);
  x = net.max_pool("pool5", x, halve);
  x = fire(net, 7, fire(net, 6, x, 48), 48);
  x = fire(net, 9, fire(net, 8, x, 64), 64);
  x = net.relu(net.conv("conv10", net.dropout(x), {.outputs = 1000}));
  return net.finish(net.softmax(net.global_average_pool("pool10", x)));
}

std::string mobilenet_v1(Builder& net, const Value& image) {
  struct Row {
    std::int64_t stride, outputs;
  };
  constexpr std::array<Row, 13> rows{{{1, 64}, {2, 128}, {1, 128}, {2, 256}, {1, 256},
                                      {2, 512}, {1, 512}, {1, 512}, {1, 512}, {1, 512},
                                      {1, 512}, {2, 1024}, {1, 1024}}};
  Value x = net.relu(
      net.conv_bn("conv1", image, {.outputs = 32, .kernel = 3, .stride = 2, .pad = 1}));
  for (int i = 2; const Row& row : rows) {
    x = net.relu(depthwise(net, fmt::format("conv{}_depthwise", i), x, row.stride));
    x = net.relu(net.conv_bn(fmt::format("conv{}_pointwise", i), x, {.outputs = row.outputs}));
    ++i;
  }
  x = net.flatten(net.global_average_pool("pool", x));
  return net.finish(net.softmax(net.fully_connected("fc", x, 1000)));
}

std::string mobilenet_v2(Builder& net, const Value& image) {
  struct Row {
    std::int64_t expansion, outputs;
    int count;
    std::int64_t stride;
  };
  constexpr std::array<Row, 7> rows{{{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2},
                                     {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}}};
  Value x = net.relu6(
      net.conv_bn("conv1", image, {.outputs = 32, .kernel = 3, .stride = 2, .pad = 1}));
  for (int block = 1; const Row& row : rows) {
    for (int i = 1; i <= row.count; ++i)
      x = inverted_residual(net, fmt::format("block{}_{}", block, i), x,
                            {row.expansion, row.outputs, i == 1 ? row.stride : 1});
    ++block;
  }
  x = net.relu6(net.conv_bn("conv2", x, {.outputs = 1280}));
  x = net.flatten(net.global_average_pool("pool", x));
  return net.finish(net.fully_connected("fc", x, 1000));
}

}  // namespace millrace::formats::zoo
