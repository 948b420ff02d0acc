#include <array>
#include <cmath>

#include "base/error.h"
#include "blocks.h"
#include "formats/read.h"
#include "formats/zoo.h"
#include "network/simplify/simplify.h"
#include "samples.h"

namespace millrace::counting {
namespace {

using network::Network;
using network::Shape;
using enum Activation;

template <char const* name>
Network of_zoo() {
  return network::simplify(formats::read_onnx(formats::zoo_model(name), name, {}));
}
constexpr char squeezenet1_1[] = "squeezenet1_1", mobilenet_v2[] = "mobilenet_v2",
               resnet18[] = "resnet18", resnet50[] = "resnet50";

/// Channels are weighed by what they all hold.
TensorId squeeze_and_excite(NetworkBuilder& net, TensorId x, std::int64_t squeezed) {
  TensorId w = conv_block(net, global_average(net, x), squeezed, {.activation = relu});
  w = conv_block(net, w, net.shape(x)[1], {});
  return net.binary(network::BinaryKind::mul, x,
                    net.unary(UnaryKind::hard_sigmoid, w, 1. / 6, 0.5));
}

struct Bottleneck {
  std::int64_t kernel, expanded, filters;
  bool squeezes;
  Activation activation;
  std::int64_t stride;
};

TensorId bottleneck(NetworkBuilder& net, TensorId x, const Bottleneck& block) {
  const std::int64_t channels = net.shape(x)[1];
  TensorId y = x;
  if (block.expanded != channels)
    y = conv_block(net, y, block.expanded, {.activation = block.activation});
  y = conv_block(net, y, block.expanded,
                 {block.kernel, block.stride, block.expanded, block.activation});
  if (block.squeezes) y = squeeze_and_excite(net, y, (block.expanded / 4 + 4) / 8 * 8);
  y = conv_block(net, y, block.filters, {});
  const bool keeps = block.stride == 1 && block.filters == channels;
  return keeps ? net.binary(network::BinaryKind::add, x, y) : y;
}

/// Howard et al. 2019, table 1.
Network mobilenet_v3() {
  constexpr std::array<Bottleneck, 15> blocks{{{3, 16, 16, false, relu, 1},
                                               {3, 64, 24, false, relu, 2},
                                               {3, 72, 24, false, relu, 1},
                                               {5, 72, 40, true, relu, 2},
                                               {5, 120, 40, true, relu, 1},
                                               {5, 120, 40, true, relu, 1},
                                               {3, 240, 80, false, hard_swish, 2},
                                               {3, 200, 80, false, hard_swish, 1},
                                               {3, 184, 80, false, hard_swish, 1},
                                               {3, 184, 80, false, hard_swish, 1},
                                               {3, 480, 112, true, hard_swish, 1},
                                               {3, 672, 112, true, hard_swish, 1},
                                               {5, 672, 160, true, hard_swish, 2},
                                               {5, 960, 160, true, hard_swish, 1},
                                               {5, 960, 160, true, hard_swish, 1}}};
  NetworkBuilder net;
  TensorId x = conv_block(net, net.input({1, 3, 224, 224}), 16, {3, 2, 1, hard_swish});
  for (const Bottleneck& block : blocks) x = bottleneck(net, x, block);
  x = global_average(net, conv_block(net, x, 960, {.activation = hard_swish}));
  x = activate(net, dense(net, reshape(net, x, {1, 960}), 1280), hard_swish);
  net.output(dense(net, x, 1000));
  return net.build();
}

struct Stage {
  std::int64_t filters;
  int blocks;
  bool shortcut;
};

/// YOLOv8's C2f: halves, the second of which passes through blocks; all are joined.
TensorId c2f(NetworkBuilder& net, TensorId x, const Stage& stage) {
  const std::int64_t filters = stage.filters, half = filters / 2;
  auto parts = net.split(1, conv_block(net, x, filters, {.activation = swish}), {half, half});
  for (int i = 0; i < stage.blocks; ++i) {
    TensorId y = conv_block(net, parts.back(), half, {3, 1, 1, swish});
    y = conv_block(net, y, half, {3, 1, 1, swish});
    parts.push_back(stage.shortcut ? net.binary(network::BinaryKind::add, parts.back(), y) : y);
  }
  return conv_block(net, net.concat(1, parts), filters, {.activation = swish});
}

/// Pools of 5, 9 and 13 pixels (one after the other) beside the input.
TensorId spatial_pyramid(NetworkBuilder& net, TensorId x, std::int64_t filters) {
  std::vector<TensorId> parts{conv_block(net, x, net.shape(x)[1] / 2, {.activation = swish})};
  for (int i = 0; i < 3; ++i) parts.push_back(max_pool(net, parts.back(), 5, 1));
  return conv_block(net, net.concat(1, parts), filters, {.activation = swish});
}

/// The raw maps of one scale: 64 numbers of the box, and the classes.
void yolov8_head(NetworkBuilder& net, TensorId x) {
  for (const std::int64_t outputs : {64, 80}) {
    TensorId y = conv_block(net, x, outputs, {3, 1, 1, swish});
    y = conv_block(net, y, outputs, {3, 1, 1, swish});
    net.output(conv_block(net, y, outputs, {}));
  }
}

/// Jocher et al. 2023, the smallest form, without the decoding of boxes.
Network yolov8n() {
  NetworkBuilder net;
  const auto down = [&](TensorId x, std::int64_t filters) {
    return conv_block(net, x, filters, {3, 2, 1, swish});
  };
  TensorId x = down(net.input({1, 3, 320, 320}), 16);
  x = c2f(net, down(x, 32), {32, 1, true});
  const TensorId eighth = c2f(net, down(x, 64), {64, 2, true});
  const TensorId sixteenth = c2f(net, down(eighth, 128), {128, 2, true});
  const TensorId deepest =
      spatial_pyramid(net, c2f(net, down(sixteenth, 256), {256, 1, true}), 256);
  const TensorId middle =
      c2f(net, net.concat(1, {enlarge(net, deepest), sixteenth}), {128, 1, false});
  const TensorId fine = c2f(net, net.concat(1, {enlarge(net, middle), eighth}), {64, 1, false});
  const TensorId medium = c2f(net, net.concat(1, {down(fine, 64), middle}), {128, 1, false});
  const TensorId coarse = c2f(net, net.concat(1, {down(medium, 128), deepest}), {256, 1, false});
  for (const TensorId scale : {fine, medium, coarse}) yolov8_head(net, scale);
  return net.build();
}

/// A convolution of each channel by itself, then one of all channels.
TensorId separable(NetworkBuilder& net, TensorId x, std::int64_t filters, std::int64_t stride) {
  const std::int64_t channels = net.shape(x)[1];
  x = conv_block(net, x, channels, {3, stride, channels, swish});
  return conv_block(net, x, filters, {.activation = swish});
}

/// YOLOX's CSP layer with separable convolutions.
TensorId csp(NetworkBuilder& net, TensorId x, const Stage& stage) {
  const std::int64_t filters = stage.filters, half = filters / 2;
  TensorId y = conv_block(net, x, half, {.activation = swish});
  const TensorId beside = conv_block(net, x, half, {.activation = swish});
  for (int i = 0; i < stage.blocks; ++i) {
    const TensorId z =
        separable(net, conv_block(net, y, half, {.activation = swish}), half, 1);
    y = stage.shortcut ? net.binary(network::BinaryKind::add, y, z) : z;
  }
  return conv_block(net, net.concat(1, {y, beside}), filters, {.activation = swish});
}

void yolox_head(NetworkBuilder& net, TensorId x) {
  const TensorId stem = conv_block(net, x, 64, {.activation = swish});
  const TensorId classes = separable(net, separable(net, stem, 64, 1), 64, 1);
  const TensorId boxes = separable(net, separable(net, stem, 64, 1), 64, 1);
  net.output(conv_block(net, classes, 80, {}));
  net.output(conv_block(net, boxes, 4, {}));
  net.output(conv_block(net, boxes, 1, {}));
}

/// The first layer's four interleaved images come from a convolution of stride 2 here.
Network yolox_nano() {
  NetworkBuilder net;
  TensorId x = conv_block(net, net.input({1, 3, 416, 416}), 16, {3, 2, 1, swish});
  x = csp(net, separable(net, x, 32, 2), {32, 1, true});
  const TensorId eighth = csp(net, separable(net, x, 64, 2), {64, 3, true});
  const TensorId sixteenth = csp(net, separable(net, eighth, 128, 2), {128, 3, true});
  const TensorId last = spatial_pyramid(net, separable(net, sixteenth, 256, 2), 256);
  const TensorId top =
      conv_block(net, csp(net, last, {256, 1, false}), 128, {.activation = swish});
  const TensorId joined =
      csp(net, net.concat(1, {enlarge(net, top), sixteenth}), {128, 1, false});
  const TensorId middle = conv_block(net, joined, 64, {.activation = swish});
  const TensorId fine = csp(net, net.concat(1, {enlarge(net, middle), eighth}), {64, 1, false});
  const TensorId medium =
      csp(net, net.concat(1, {separable(net, fine, 64, 2), middle}), {128, 1, false});
  const TensorId coarse =
      csp(net, net.concat(1, {separable(net, medium, 128, 2), top}), {256, 1, false});
  for (const TensorId scale : {fine, medium, coarse}) yolox_head(net, scale);
  return net.build();
}

/// Touvron et al. 2021, DeiT-tiny; the class is read from the mean of the tokens.
Network vit_tiny() {
  constexpr std::int64_t width = 192, tokens = 196;
  NetworkBuilder net;
  const TensorId x = net.input({1, 3, 224, 224});
  const TensorId patches = net.conv(x, width, test::window(16, {.stride = 16}));
  TensorId y = transpose(net, reshape(net, patches, {1, width, tokens}), {0, 2, 1});
  y = net.binary(network::BinaryKind::add, y, net.constant({1, tokens, width}));
  for (int block = 0; block < 12; ++block) y = transformer(net, y, {.heads = 3, .mlp = 4 * width});
  const TensorId mean = net.layer(network::Reduce{network::ReduceKind::mean, {1}},
                                  {layer_norm(net, y)}, {1, width});
  net.output(dense(net, mean, 1000));
  return net.build();
}

/// As PP-OCR's recognition of text: MobileNetV1 of half the width whose strides keep the line's
/// length, two blocks of a transformer, and 97 characters at each of 80 places.
Network text_recognition() {
  struct Pair {
    std::int64_t kernel, filters;
    Shape strides;
  };
  const std::array<Pair, 13> pairs{{{3, 32, {1, 1}},
                                      {3, 64, {1, 1}},
                                      {3, 64, {1, 1}},
                                      {3, 128, {2, 1}},
                                      {3, 128, {1, 1}},
                                      {3, 256, {2, 1}},
                                      {5, 256, {1, 1}},
                                      {5, 256, {1, 1}},
                                      {5, 256, {1, 1}},
                                      {5, 256, {1, 1}},
                                      {5, 256, {1, 1}},
                                      {5, 512, {2, 1}},
                                      {5, 512, {1, 2}}}};
  NetworkBuilder net;
  TensorId x = conv_block(net, net.input({1, 3, 48, 320}), 16, {3, 2, 1, hard_swish});
  for (const Pair& pair : pairs) {
    const std::int64_t channels = net.shape(x)[1];
    network::Window window = test::window(pair.kernel, {.pad = pair.kernel / 2});
    window.strides = pair.strides;
    x = activate(net, net.conv(x, channels, window, channels), hard_swish);
    x = conv_block(net, x, pair.filters, {.activation = hard_swish});
  }
  network::Window column = test::window(1);
  column.kernel = column.strides = {net.shape(x)[2], 1};
  x = conv_block(net, net.pool({network::PoolKind::average, column}, x), 120, {});
  const std::int64_t places = net.shape(x)[3];
  TensorId y = transpose(net, reshape(net, x, {1, 120, places}), {0, 2, 1});
  for (int block = 0; block < 2; ++block)
    y = transformer(net, y, {.heads = 8, .mlp = 240, .activation = swish});
  net.output(softmax(net, dense(net, layer_norm(net, y), 97)));
  return net.build();
}

/// Two GRUs over a second of sound, as networks that spot keywords have them.
Network gru() {
  using network::GateFunction;
  constexpr std::int64_t steps = 100, features = 40, units = 256;
  NetworkBuilder net;
  TensorId x = net.input({steps, 1, features});
  for (int layer = 0; layer < 2; ++layer) {
    network::Recurrent op;
    op.kind = network::RecurrentKind::gru;
    op.hidden = units;
    op.gates = {{GateFunction::sigmoid}, {GateFunction::tanh}};
    const std::int64_t inputs = net.shape(x).back();
    const double most = 1 / std::sqrt(static_cast<double>(units));
    x = net.layer(op,
                  {x, net.constant({1, 3 * units, inputs}, {-most, most}),
                   net.constant({1, 3 * units, units}, {-most, most}),
                   net.constant({1, 6 * units}, {-most, most})},
                  {steps, 1, 1, units});
    x = reshape(net, x, {steps, 1, units});
  }
  net.output(dense(net, x, 12));
  return net.build();
}

}  // namespace

const std::vector<Sample>& network_samples() {
  using enum SampleKind;
  static const std::vector<Sample> samples{{"squeezenet1_1", network, of_zoo<squeezenet1_1>},
                                           {"mobilenet_v2", network, of_zoo<mobilenet_v2>},
                                           {"resnet18", network, of_zoo<resnet18>},
                                           {"resnet50", network, of_zoo<resnet50>},
                                           {"mobilenet_v3", network, mobilenet_v3},
                                           {"yolov8n at 320", network, yolov8n},
                                           {"yolox_nano", network, yolox_nano},
                                           {"vit_tiny", network, vit_tiny},
                                           {"text recognition", network, text_recognition},
                                           {"gru", network, gru}};
  return samples;
}

network::Network make_sample(const std::string& name) {
  for (const auto* samples : {&layer_samples(), &network_samples()})
    for (const Sample& sample : *samples)
      if (sample.name == name) {
        network::Network result = network::simplify(sample.make());
        result.name = name;
        return result;
      }
  throw InputError(name, "no such layer or network; 'count_instructions list' names all");
}

}  // namespace millrace::counting
