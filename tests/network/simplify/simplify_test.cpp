#include "network/simplify/simplify.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "network/simplify/simplified.h"

namespace millrace::network {
namespace {

TEST(Simplify, folds_normalization_and_constants_into_a_convolution) {
  for (const bool with_bias : {false, true}) {
    Maker maker;
    std::vector<TensorId> inputs{maker.input({1, 4, 5, 5}), maker.constant({6, 2, 3, 3})};
    if (with_bias) inputs.push_back(maker.constant({6}));
    TensorId x = maker.layer(Conv{window_of_3(), 2}, inputs, {1, 6, 5, 5});
    x = maker.normalization(x, 6);
    x = maker.binary(BinaryKind::mul, x, maker.constant({6, 1, 1}));
    x = maker.binary(BinaryKind::add, maker.constant({1, 6, 1, 1}), x);
    x = maker.binary(BinaryKind::sub, x, maker.constant({1}));
    x = maker.binary(BinaryKind::div, x, maker.constant({6, 1, 1}, 1, 2));
    maker.network.outputs = {x};
    const Network network = simplified(maker);
    ASSERT_EQ(network.layers.size(), 1u);
    EXPECT_EQ(network.layers[0].inputs.size(), 3u);
    EXPECT_EQ(network[network.outputs[0]].name, maker.network[x].name);
  }
}

TEST(Simplify, folds_normalization_into_a_grouped_transposed_convolution) {
  Maker maker;
  const TensorId x =
      maker.layer(ConvTranspose{window_of_3(), 2},
                  {maker.input({1, 4, 5, 5}), maker.constant({4, 3, 3, 3})}, {1, 6, 5, 5});
  maker.network.outputs = {maker.normalization(x, 6)};
  EXPECT_EQ(simplified(maker).layers.size(), 1u);
}

TEST(Simplify, folds_normalization_into_a_gemm) {
  for (const bool transposed : {false, true})
    for (const Shape& bias : {Shape{5}, Shape{1, 5}, Shape{1}, Shape{}}) {
      Maker maker;
      const TensorId weight = maker.constant(transposed ? Shape{5, 4} : Shape{4, 5});
      const TensorId x = maker.layer(Gemm{false, transposed, 0.5f, 2},
                                     {maker.input({3, 4}), weight, maker.constant(bias)}, {3, 5});
      maker.network.outputs = {maker.normalization(x, 5)};
      EXPECT_EQ(simplified(maker).layers.size(), 1u);
    }
}

/// A convolution of 3x3 that reads a padded image of 6x5.
Maker padded_convolution(const Pad& pad, const Shape& padded) {
  Maker maker;
  const TensorId wide = maker.layer(pad, {maker.input({1, 2, 6, 5})}, padded);
  const Window window{{3, 3}, {2, 1}, {1, 1}, {1, 0}, {0, 1}};
  const Shape shape{1, 4, (padded[2] - 2) / 2 + 1, padded[3] - 1};
  maker.network.outputs = {
      maker.layer(Conv{window, 1}, {wide, maker.constant({4, padded[1], 3, 3})}, shape)};
  return maker;
}

TEST(Simplify, folds_padding_with_zeros_into_a_convolution) {
  Maker maker =
      padded_convolution({PadMode::constant, {0, 0, 1, 2}, {0, 0, 3, 1}, 0}, {1, 2, 10, 8});
  const Network after = simplified(maker);
  ASSERT_EQ(after.layers.size(), 1u);
  EXPECT_EQ(std::get<Conv>(after.layers[0].op).window,
            (Window{{3, 3}, {2, 1}, {1, 1}, {2, 2}, {3, 2}}));
}

TEST(Simplify, folds_padding_of_padding_and_keeps_what_others_read) {
  Maker maker;
  const Pad once{PadMode::constant, {0, 0, 1, 0}, {0, 0, 0, 1}, 0};
  const TensorId a = maker.layer(once, {maker.input({1, 2, 5, 5})}, {1, 2, 6, 6});
  const TensorId b = maker.layer(once, {a}, {1, 2, 7, 7});
  const Window window{{3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
  const TensorId y = maker.layer(Conv{window, 1}, {b, maker.constant({4, 2, 3, 3})}, {1, 4, 5, 5});
  maker.network.outputs = {y, a};
  EXPECT_EQ(simplified(maker).layers.size(), 2u);
}

TEST(Simplify, leaves_padding_that_is_no_padding_of_a_convolution) {
  const Pad others[]{{PadMode::constant, {0, 0, 1, 2}, {0, 0, 3, 1}, 1},
                     {PadMode::edge, {0, 0, 1, 2}, {0, 0, 3, 1}, 0},
                     {PadMode::constant, {0, 0, 5, 4}, {0, 0, -1, -1}, 0},
                     {PadMode::constant, {0, 1, 1, 2}, {0, 0, 3, 1}, 0}};
  for (const Pad& pad : others) {
    Maker maker = padded_convolution(pad, {1, 2 + pad.begin[1], 10, 8});
    EXPECT_EQ(simplified(maker).layers.size(), 2u);
  }
}

TEST(Simplify, leaves_a_gemm_whose_addend_differs_by_row) {
  Maker maker;
  const TensorId x = maker.layer(
      Gemm{}, {maker.input({5, 4}), maker.constant({4, 5}), maker.constant({5, 1})}, {5, 5});
  maker.network.outputs = {maker.normalization(x, 5)};
  EXPECT_EQ(simplified(maker).layers.size(), 2u);
}

TEST(Simplify, keeps_a_convolution_that_others_read) {
  Maker maker;
  const TensorId x =
      maker.layer(Conv{window_of_3(), 1}, {maker.input({1, 2, 5, 5}), maker.constant({2, 2, 3, 3})},
                  {1, 2, 5, 5});
  const TensorId y = maker.normalization(x, 2);
  maker.network.outputs = {maker.binary(BinaryKind::add, x, y)};
  EXPECT_EQ(simplified(maker).layers.size(), 3u);
}

TEST(Simplify, keeps_a_convolution_that_is_an_output) {
  Maker maker;
  const TensorId x =
      maker.layer(Conv{window_of_3(), 1}, {maker.input({1, 2, 5, 5}), maker.constant({2, 2, 3, 3})},
                  {1, 2, 5, 5});
  maker.network.outputs = {x, maker.normalization(x, 2)};
  EXPECT_EQ(simplified(maker).layers.size(), 2u);
}

TEST(Simplify, merges_chains_into_one_normalization) {
  Maker maker;
  TensorId x = maker.normalization(maker.input({2, 3, 4}), 3);
  x = maker.binary(BinaryKind::mul, x, maker.constant({3, 1}));
  x = maker.binary(BinaryKind::add, x, maker.constant({1, 3, 1}));
  x = maker.layer(Unary{UnaryKind::relu, 0, 0}, {x}, {2, 3, 4});
  maker.network.outputs = {x};
  const Network network = simplified(maker);
  ASSERT_EQ(network.layers.size(), 2u);
  EXPECT_TRUE(std::holds_alternative<BatchNormalization>(network.layers[0].op));
}

/// Adding and subtracting 1.5 * 2^23 rounds; products that overflow stay infinite.
TEST(Simplify, keeps_steps_between_which_float32_rounds_or_overflows) {
  struct Step {
    BinaryKind kind;
    float number;
  };
  const auto layers_of = [](bool convolved, const Step& first, const Step& second) {
    Maker maker;
    TensorId x = maker.input({1, 4, 5, 5});
    if (convolved)
      x = maker.layer(Conv{window_of_3(), 1}, {x, maker.constant({3, 4, 3, 3})}, {1, 3, 5, 5});
    for (const Step& step : {first, second})
      x = maker.binary(step.kind, x, maker.constant({1}, step.number, step.number));
    maker.network.outputs = {x};
    return simplified(maker).layers.size();
  };
  using enum BinaryKind;
  constexpr float magic = 12582912;
  EXPECT_EQ(layers_of(false, {add, magic}, {sub, magic}), 2u);
  EXPECT_EQ(layers_of(true, {add, magic}, {sub, magic}), 3u);
  EXPECT_EQ(layers_of(false, {add, 100'000}, {sub, 100'000}), 2u);
  EXPECT_EQ(layers_of(false, {mul, 1e10f}, {mul, 1e10f}), 2u);
  EXPECT_EQ(layers_of(false, {mul, 1e-15f}, {mul, 1e-16f}), 2u);
  EXPECT_EQ(layers_of(true, {mul, 3}, {add, 1}), 1u);
}

TEST(Simplify, leaves_constants_that_vary_inside_a_channel) {
  Maker maker;
  TensorId x = maker.normalization(maker.input({2, 3, 4}), 3);
  x = maker.binary(BinaryKind::mul, x, maker.constant({3, 4}));
  maker.network.outputs = {x};
  EXPECT_EQ(simplified(maker).layers.size(), 2u);
}

TEST(Simplify, leaves_a_constant_that_grows_the_shape) {
  Maker maker;
  const TensorId x = maker.normalization(maker.input({2, 1, 4}), 1);
  maker.network.outputs = {maker.binary(BinaryKind::add, x, maker.constant({1, 3, 1}))};
  EXPECT_EQ(simplified(maker).layers.size(), 2u);
}

/// Images of unlike size, enlarged to 8 x 10 where they are smaller, side by side.
struct Pyramid {
  Maker maker;
  TensorId image = maker.input({1, 3, 8, 10});
  std::vector<TensorId> parts;
  std::int64_t channels = 0;

  void add(std::int64_t filters, std::int64_t stride, ResizeMode mode = ResizeMode::linear) {
    const std::int64_t rows = 8 / stride, columns = 10 / stride;
    const Window window{{1, 1}, {stride, stride}, {1, 1}, {0, 0}, {0, 0}};
    TensorId x = maker.layer(Conv{window, 1}, {image, maker.constant({filters, 3, 1, 1})},
                             {1, filters, rows, columns});
    const double scale = static_cast<double>(stride);
    Resize resize;
    resize.mode = mode;
    resize.scales = {1, 1, scale, scale};
    if (stride > 1) x = maker.layer(resize, {x}, {1, filters, 8, 10});
    parts.push_back(x);
    channels += filters;
  }
  TensorId weighed(std::int64_t filters, std::int64_t side = 1) {
    const TensorId x = maker.layer(Concat{1}, parts, {1, channels, 8, 10});
    const Window window{{side, side}, {1, 1}, {1, 1}, {side / 2, side / 2}, {side / 2, side / 2}};
    return maker.layer(
        Conv{window, 1},
        {x, maker.constant({filters, channels, side, side}), maker.constant({filters})},
        {1, filters, 8, 10});
  }
};

TEST(Simplify, weighs_channels_before_images_are_enlarged) {
  for (const int rest : {1, 2}) {
    Pyramid p;
    p.add(100, 2);
    p.add(8, 1);
    p.add(96, 2);
    if (rest == 2) p.add(40, 1);
    p.maker.network.outputs = {p.weighed(20)};
    const Network network = simplified(p.maker);
    std::int64_t macs = 0;
    for (std::size_t i = 0; i < network.layers.size(); ++i)
      macs = std::max(macs, cost_of(network, LayerId(i)).macs);
    // Nothing of full size multiplies with the 196 channels.
    EXPECT_LE(macs, 80 * 20 * 48);
    EXPECT_EQ(std::ranges::count_if(
                  network.layers,
                  [](const Layer& layer) { return std::holds_alternative<Concat>(layer.op); }),
              rest - 1);
  }
}

TEST(Simplify, names_of_weighed_parts_are_new) {
  Pyramid p;
  p.add(100, 2);
  p.add(8, 1);
  const TensorId x = p.weighed(20);
  const std::string name = p.maker.network.layers.back().name;
  p.maker.network.outputs = {p.maker.layer(Unary{UnaryKind::relu}, {x}, {1, 20, 8, 10})};
  p.maker.network.layers.back().name = name + "/part1";
  const Network network = simplified(p.maker);
  for (const std::string& name_of_part : {name + "/part1", name + "/part1_"})
    EXPECT_EQ(std::ranges::count(network.layers, name_of_part, &Layer::name), 1);
}

TEST(Simplify, leaves_images_whose_channels_are_not_worth_weighing_apart) {
  const auto expect_left = [](const auto& build) {
    Pyramid p;
    const TensorId result = build(p);
    p.maker.network.outputs.push_back(result);
    EXPECT_EQ(p.maker.network.layers.size(), simplified(p.maker).layers.size());
  };
  expect_left([](Pyramid& p) {  // few channels
    p.add(40, 2), p.add(8, 1);
    return p.weighed(20);
  });
  expect_left([](Pyramid& p) {  // more filters than channels
    p.add(100, 2), p.add(8, 1);
    return p.weighed(120);
  });
  expect_left([](Pyramid& p) {  // windows
    p.add(100, 2), p.add(8, 1);
    return p.weighed(20, 3);
  });
  expect_left([](Pyramid& p) {  // nothing is left for the bias
    p.add(100, 2), p.add(100, 2);
    return p.weighed(20);
  });
  expect_left([](Pyramid& p) {  // channels are mixed, though there are as many
    p.add(100, 2), p.add(8, 1);
    auto& resize = std::get<Resize>(p.maker.network.layers[1].op);
    resize.scales[1] = 1.003;
    resize.coordinates = Coordinates::asymmetric;
    return p.weighed(20);
  });
  expect_left([](Pyramid& p) {  // pixels that are repeated
    p.add(100, 2, ResizeMode::nearest), p.add(8, 1);
    return p.weighed(20);
  });
  expect_left([](Pyramid& p) {  // twice the same
    p.add(100, 2), p.add(8, 1);
    p.parts.push_back(p.parts[0]);
    p.channels += 100;
    return p.weighed(20);
  });
  expect_left([](Pyramid& p) {  // others read it
    p.add(100, 2), p.add(8, 1);
    const TensorId x = p.weighed(20);
    p.maker.network.outputs = {p.parts[0]};
    return x;
  });
}

TEST(Simplify, removes_what_no_output_needs_but_keeps_inputs) {
  Maker maker;
  const TensorId a = maker.input({2});
  maker.input({3});
  maker.binary(BinaryKind::add, a, maker.constant({2}));
  maker.network.outputs = {maker.layer(Unary{}, {a}, {2})};
  const Network network = remove_unused(maker.network);
  validate(network);
  EXPECT_EQ(network.layers.size(), 1u);
  EXPECT_EQ(network.tensors.size(), 3u);
  EXPECT_EQ(network.inputs.size(), 2u);
}

TEST(Simplify, folds_layers_whose_inputs_are_constants) {
  Maker maker;
  const TensorId weight =
      maker.binary(BinaryKind::add, maker.constant({2, 3}), maker.constant({3}));
  maker.network.outputs = {maker.binary(BinaryKind::mul, maker.input({2, 3}), weight)};
  const Network network = simplified(maker);
  EXPECT_EQ(network.layers.size(), 1u);
  EXPECT_EQ(network.tensors.size(), 3u);
}

TEST(Simplify, merges_reshapes) {
  Maker maker;
  const TensorId x = maker.input({2, 3, 4});
  TensorId y = maker.layer(Unary{}, {x}, {2, 3, 4});
  for (const Shape& shape : {Shape{6, 4}, Shape{24}, Shape{2, 3, 4}})
    y = maker.layer(Reshape{}, {y}, shape);
  const TensorId z = maker.layer(Reshape{}, {y}, {4, 6});
  maker.network.outputs = {y, z};
  const Network network = simplified(maker);
  ASSERT_EQ(network.layers.size(), 2u);
  EXPECT_EQ(network[network.outputs[0]].name, maker.network[y].name);
  EXPECT_EQ(network[network.outputs[1]].shape, (Shape{4, 6}));
}

}  // namespace
}  // namespace millrace::network
