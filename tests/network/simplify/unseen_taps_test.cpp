// Kernels that reach beyond small images.
#include <gtest/gtest.h>

#include "network/simplify/simplified.h"

namespace millrace::network {
namespace {

/// A convolution whose kernel is as wide as its images, or wider.
struct WideKernel {
  Shape image, result;
  Window window, left;  // with all taps, and with those that meet a pixel
};

TEST(Simplify, cuts_taps_that_only_meet_padding) {
  const std::vector<WideKernel> cases{
      {{7, 7},
       {7, 7},
       {{3, 3}, {1, 1}, {8, 8}, {8, 8}, {8, 8}},
       {{1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}}},
      {{1, 4}, {1, 4}, window_of_3(), {{1, 3}, {1, 1}, {1, 1}, {0, 1}, {0, 1}}},
      {{7, 7},
       {7, 7},
       {{3, 3}, {1, 1}, {6, 6}, {6, 6}, {6, 6}},
       {{3, 3}, {1, 1}, {6, 6}, {6, 6}, {6, 6}}},
      {{5, 9},
       {3, 5},
       {{5, 1}, {2, 2}, {3, 1}, {6, 0}, {6, 0}},
       {{3, 1}, {2, 2}, {3, 1}, {3, 0}, {3, 0}}},
      // The padding would become negative.
      {{4, 4},
       {2, 2},
       {{2, 2}, {1, 1}, {9, 9}, {5, 5}, {2, 2}},
       {{2, 2}, {1, 1}, {9, 9}, {5, 5}, {2, 2}}}};
  for (const WideKernel& each : cases) {
    Maker maker;
    const Shape& kernel = each.window.kernel;
    maker.network.outputs = {
        maker.layer(Conv{each.window, 2},
                    {maker.input({1, 4, each.image[0], each.image[1]}),
                     maker.constant({6, 2, kernel[0], kernel[1]}), maker.constant({6})},
                    {1, 6, each.result[0], each.result[1]})};
    const Network network = simplified(maker);
    EXPECT_EQ(std::get<Conv>(network.layers[0].op).window, each.left);
  }
}

TEST(Simplify, cuts_taps_of_lines_and_of_volumes) {
  Maker line;
  line.network.outputs = {line.layer(Conv{{{5}, {1}, {2}, {4}, {4}}, 4},
                                     {line.input({1, 4, 3}), line.constant({4, 1, 5})}, {1, 4, 3})};
  EXPECT_EQ(std::get<Conv>(simplified(line).layers[0].op).window,
            (Window{{3}, {1}, {2}, {2}, {2}}));
  Maker volume;
  const Shape threes{3, 3, 3}, ones{1, 1, 1};
  volume.network.outputs = {volume.layer(
      Conv{{threes, ones, ones, ones, ones}},
      {volume.input({2, 2, 1, 4, 1}), volume.constant({3, 2, 3, 3, 3})}, {2, 3, 1, 4, 1})};
  EXPECT_EQ(std::get<Conv>(simplified(volume).layers[0].op).window,
            (Window{{1, 3, 1}, ones, ones, {0, 1, 0}, {0, 1, 0}}));
}

TEST(Simplify, cuts_taps_of_each_channel_alone) {
  Maker maker;
  maker.network.outputs = {maker.layer(Conv{window_of_3(), 4},
                                       {maker.input({2, 4, 5, 1}), maker.constant({8, 1, 3, 3})},
                                       {2, 8, 5, 1})};
  EXPECT_EQ(std::get<Conv>(simplified(maker).layers[0].op).window,
            (Window{{3, 1}, {1, 1}, {1, 1}, {1, 0}, {1, 0}}));
}

/// The batch normalization behind goes into the weights that are left.
TEST(Simplify, cuts_taps_with_all_passes_in_their_order) {
  Maker maker;
  const TensorId x = maker.layer(
      Conv{window_of_3()}, {maker.input({1, 3, 1, 1}), maker.constant({4, 3, 3, 3})}, {1, 4, 1, 1});
  maker.network.outputs = {maker.normalization(x, 4)};
  const Network network = simplify(maker.network);
  ASSERT_EQ(std::get<Conv>(network.layers[0].op).window.kernel, (Shape{1, 1}));
  const std::vector<Array> frame{maker.frame({1, 3, 1, 1})};
  EXPECT_LT(test::relative_error(evaluate(network, frame)[0], evaluate(maker.network, frame)[0]),
            1e-5);
}

TEST(Simplify, leaves_weights_whole_that_two_convolutions_share) {
  Maker maker;
  const TensorId image = maker.input({1, 4, 1, 1}), weights = maker.constant({4, 4, 3, 3});
  const TensorId x = maker.layer(Conv{window_of_3()}, {image, weights}, {1, 4, 1, 1});
  maker.network.outputs = {maker.layer(Conv{window_of_3()}, {x, weights}, {1, 4, 1, 1})};
  EXPECT_EQ(std::get<Conv>(simplified(maker).layers[0].op).window, window_of_3());
}

}  // namespace
}  // namespace millrace::network
