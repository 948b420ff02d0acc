// GoogLeNet twice: as Caffe has it, and as the ONNX model zoo's export from Caffe2, whose pools
// round their sizes down.
#include <fmt/format.h>

#include <array>

#include "formats/zoo/architectures.h"

namespace millrace::formats::zoo {
namespace {

/// A row of the publication's table.
struct Inception {
  const char* name;
  std::int64_t one, reduce_three, three, reduce_five, five, projection;
};
constexpr std::array<Inception, 9> modules{{{"3a", 64, 96, 128, 16, 32, 32},
                                            {"3b", 128, 128, 192, 32, 96, 64},
                                            {"4a", 192, 96, 208, 16, 48, 64},
                                            {"4b", 160, 112, 224, 24, 64, 64},
                                            {"4c", 128, 128, 256, 24, 64, 64},
                                            {"4d", 112, 144, 288, 32, 64, 64},
                                            {"4e", 256, 160, 320, 32, 128, 128},
                                            {"5a", 256, 160, 320, 32, 128, 128},
                                            {"5b", 384, 192, 384, 48, 128, 128}}};

Value inception(Builder& net, const Value& x, const Inception& row) {
  const std::string prefix = fmt::format("inception_{}/", row.name);
  const auto conv = [&](const char* name, const Value& from, const ConvSpec& spec) {
    return relu(net, zoo::conv(net, prefix + name, from, spec));
  };
  const Value one = conv("1x1", x, {.outputs = row.one});
  const Value three = conv("3x3", conv("3x3_reduce", x, {.outputs = row.reduce_three}),
                           {.outputs = row.three, .kernel = 3, .pad = 1});
  const Value five = conv("5x5", conv("5x5_reduce", x, {.outputs = row.reduce_five}),
                          {.outputs = row.five, .kernel = 5, .pad = 2});
  const Value pooled =
      max_pool(net, prefix + "pool", x, {.kernel = 3, .stride = 1, .pad = 1, .pad_end = 1});
  const Value projected = conv("pool_proj", pooled, {.outputs = row.projection});
  return concat(net, prefix + "output", {one, three, five, projected});
}

/// `pad_end` is 1 where the sizes of the pools' outputs are rounded up: 112, 56, 28, 14, 7.
std::string googlenet(Builder& net, const Value& image, std::int64_t pad_end) {
  const PoolSpec halve{.kernel = 3, .stride = 2, .pad_end = pad_end};
  Value x = relu(
      net, conv(net, "conv1/7x7_s2", image, {.outputs = 64, .kernel = 7, .stride = 2, .pad = 3}));
  x = lrn(net, "pool1/norm1", max_pool(net, "pool1/3x3_s2", x, halve));
  x = relu(net, conv(net, "conv2/3x3_reduce", x, {.outputs = 64}));
  x = relu(net, conv(net, "conv2/3x3", x, {.outputs = 192, .kernel = 3, .pad = 1}));
  x = max_pool(net, "pool2/3x3_s2", lrn(net, "conv2/norm2", x), halve);
  for (const Inception& row : modules) {
    const std::string_view name = row.name;
    if (name == "4a" || name == "5a")
      x = max_pool(net, fmt::format("pool{}/3x3_s2", name == "4a" ? 3 : 4), x, halve);
    x = inception(net, x, row);
  }
  // Where the sizes were rounded down only 6x6 pixels are left for the window of 7x7.
  x = average_pool(net, "pool5/7x7_s1", x, {.kernel = 7, .stride = 1, .pad_end = 7 - x.shape[2]});
  x = flatten(net, dropout(net, x));
  return net.finish(softmax(net, fully_connected(net, "loss3/classifier", x, 1000)));
}

}  // namespace

std::string bvlc_googlenet(Builder& net, const Value& image) { return googlenet(net, image, 1); }

std::string inception_v1(Builder& net, const Value& image) { return googlenet(net, image, 0); }

}  // namespace millrace::formats::zoo
