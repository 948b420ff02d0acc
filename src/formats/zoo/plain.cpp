// Networks that are one chain of layers: AlexNet, VGG-19, the FER+ emotion network, Tiny YOLO v2.
#include <fmt/format.h>

#include <array>

#include "formats/zoo/architectures.h"

namespace millrace::formats::zoo {
namespace {

/// Two fully connected layers with dropout, then the classes.
Value classify(Builder& net, const Value& features, std::int64_t width, std::int64_t classes) {
  Value x = flatten(net, features);
  x = dropout(net, relu(net, fully_connected(net, "fc6", x, width)));
  x = dropout(net, relu(net, fully_connected(net, "fc7", x, width)));
  return fully_connected(net, "fc8", x, classes);
}

struct Block {
  int convolutions;
  std::int64_t width;
};

/// 3x3 convolutions conv`number`_1, ... of the same width, and a pool that halves the size.
Value conv_block(Builder& net, Value x, int number, const Block& block) {
  for (int i = 1; i <= block.convolutions; ++i)
    x = relu(net, conv(net, fmt::format("conv{}_{}", number, i), x,
                       {.outputs = block.width, .kernel = 3, .pad = 1}));
  return max_pool(net, fmt::format("pool{}", number), x, {.kernel = 2, .stride = 2});
}

}  // namespace

std::string bvlc_alexnet(Builder& net, const Value& image) {
  Value x = relu(net, conv(net, "conv1", image, {.outputs = 96, .kernel = 11, .stride = 4}));
  x = max_pool(net, "pool1", lrn(net, "norm1", x), {.kernel = 3, .stride = 2});
  x = relu(net, conv(net, "conv2", x, {.outputs = 256, .kernel = 5, .pad = 2, .groups = 2}));
  x = max_pool(net, "pool2", lrn(net, "norm2", x), {.kernel = 3, .stride = 2});
  x = relu(net, conv(net, "conv3", x, {.outputs = 384, .kernel = 3, .pad = 1}));
  x = relu(net, conv(net, "conv4", x, {.outputs = 384, .kernel = 3, .pad = 1, .groups = 2}));
  x = relu(net, conv(net, "conv5", x, {.outputs = 256, .kernel = 3, .pad = 1, .groups = 2}));
  x = max_pool(net, "pool5", x, {.kernel = 3, .stride = 2, .pad_end = 1});
  return net.finish(softmax(net, classify(net, x, 4096, 1000)));
}

std::string vgg_19(Builder& net, const Value& image) {
  constexpr std::array<Block, 5> blocks{{{2, 64}, {2, 128}, {4, 256}, {4, 512}, {4, 512}}};
  Value x = image;
  for (int i = 0; const Block& block : blocks)
    x = conv_block(net, x, ++i, block);
  return net.finish(softmax(net, classify(net, x, 4096, 1000)));
}

std::string emotion_ferplus(Builder& net, const Value& image) {
  constexpr std::array<Block, 4> blocks{{{2, 64}, {2, 128}, {3, 256}, {3, 256}}};
  Value x = image;
  for (int i = 0; const Block& block : blocks) x = dropout(net, conv_block(net, x, ++i, block));
  return net.finish(classify(net, x, 1024, 8));
}

std::string tiny_yolo_v2(Builder& net, const Value& image) {
  constexpr std::array<std::int64_t, 8> widths{16, 32, 64, 128, 256, 512, 1024, 1024};
  Value x = image;
  for (int i = 1; const std::int64_t width : widths) {
    x = conv(net, fmt::format("conv{}", i), x,
             {.outputs = width, .kernel = 3, .pad = 1, .bias = false});
    x = leaky_relu(net, batch_norm(net, fmt::format("bn{}", i), x));
    // The sixth keeps the size of 13x13: it moves by one pixel and pads on the far side.
    if (i <= 5) x = max_pool(net, fmt::format("pool{}", i), x, {.kernel = 2, .stride = 2});
    if (i == 6) x = max_pool(net, "pool6", x, {.kernel = 2, .stride = 1, .pad_end = 1});
    ++i;
  }
  // Per cell 5 boxes of 4 coordinates, 1 confidence and 20 classes.
  return net.finish(conv(net, "conv9", x, {.outputs = 5 * (4 + 1 + 20)}));
}

}  // namespace millrace::formats::zoo
