// Direct convolutions against the definition.
#include "kernels/direct/direct_convolution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "machine.h"
#include "network/tensor.h"
#include "own_samples.h"

namespace millrace::kernels {
namespace {

using namespace test::kernels;  // NOLINT: the vocabulary of these tests

struct Numbers {
  std::vector<float> source, weights, bias, before;

  Numbers(const DirectConvolution& c, Random& random)
      : source(random_values(
            c.images * c.depth.input * c.height.input * c.width.input * c.channels, random)),
        weights(random_values(c.outputs * c.channels_of_group() * c.taps(), random)),
        bias(random_values(c.outputs, random)),
        before(random_values(c.pixels() * c.outputs, random)) {}
};

/// A tap's place in the input, or a number too large.
std::size_t at(const WindowAxis& axis, std::size_t output, std::size_t tap) {
  return output * axis.stride + tap * axis.dilation - axis.pad;
}

double sum_of(const DirectConvolution& c, const Numbers& n, std::size_t pixel, std::size_t output) {
  const std::size_t x = pixel % c.width.output, rows = pixel / c.width.output;
  const std::size_t y = rows % c.height.output, planes = rows / c.height.output;
  const std::size_t z = planes % c.depth.output, image = planes / c.depth.output;
  const std::size_t channels = c.channels_of_group();
  double sum = 0;
  for (std::size_t tap = 0; tap < c.taps(); ++tap) {
    const std::size_t row = tap / c.width.window;
    const std::size_t iz = at(c.depth, z, row / c.height.window);
    const std::size_t iy = at(c.height, y, row % c.height.window);
    const std::size_t ix = at(c.width, x, tap % c.width.window);
    if (iz >= c.depth.input || iy >= c.height.input || ix >= c.width.input) continue;
    const std::size_t place = ((image * c.depth.input + iz) * c.height.input + iy) * c.width.input;
    for (std::size_t i = 0; i < channels; ++i) {
      const std::size_t channel = output / c.outputs_of_group() * channels + i;
      sum += double{n.source[(place + ix) * c.channels + channel]} *
             double{n.weights[(output * channels + i) * c.taps() + tap]};
    }
  }
  return sum;
}

std::vector<float> computed(const DirectConvolution& c, const Numbers& n, bool has_bias) {
  network::Buffer weights(Bytes{static_cast<std::int64_t>(packed_size(c))});
  pack_weights(c, n.weights, weights.bytes());
  std::vector<float> result = n.before;
  convolve(c, {n.source.data(), reinterpret_cast<const float*>(weights.data()),
               has_bias ? n.bias.data() : nullptr, result.data()});
  return result;
}

/// In shares of the largest sum.
double error_of(const DirectConvolution& c, const Numbers& n, bool has_bias) {
  const std::vector<float> found = computed(c, n, has_bias);
  double largest = 1e-9, worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    double y = sum_of(c, n, i / c.outputs, i % c.outputs);
    if (has_bias) y += double{n.bias[i % c.outputs]};
    const auto before = double{n.before[i]};
    largest = std::max(largest, std::abs(y) + (c.adds ? std::abs(before) : 0));
    if (std::isnan(found[i])) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, std::abs(finished(c, y, before) - double{found[i]}));
  }
  return worst / largest;
}

void choose_end(DirectConvolution& c, Random& random) {
  c.adds = random.below(2) == 0;
  c.adds_last = c.adds && random.below(2) == 0;
  const std::size_t kind = random.below(5);
  if (kind == 0) c.activation.slope = 0.1f;
  if (kind == 1) c.activation = {1, 0, random.below(2) == 0 ? 1.f : 1e9f};
  if (kind == 2) c.activation.swish = true;
  if (kind == 3) c.activation.hard_swish = true;
}

std::size_t any_lanes(Random& random) {
  std::size_t lanes = 0;
  do {
    lanes = std::size_t{4} << random.below(3);
  } while (lanes > vector_lanes());
  return lanes;
}

DirectConvolution random_dense(Random& random) {
  constexpr std::size_t counts[] = {1, 2, 3, 4, 7, 8, 12, 16, 24, 40};
  constexpr std::size_t groups[] = {1, 1, 1, 2, 3};
  DirectConvolution c;
  c.images = 1 + random.below(3);
  c.groups = groups[random.below(5)];
  c.channels = c.groups * counts[random.below(10)];
  c.outputs = c.groups * counts[random.below(10)];
  c.height = random_axis(random);
  c.width = random_axis(random);
  if (random.below(4) == 0) c.depth = {5, 4, 2, 1, 1, 0};
  if (random.below(3) == 0) {  // pixels as they lie
    c.height = {9, 9, 1, 1, 1, 0};
    c.width = {7, 7, 1, 1, 1, 0};
  }
  c.lanes = any_lanes(random);
  choose_end(c, random);
  return c;
}

std::string describe(const DirectConvolution& c) {
  return test::kernels::describe(c) + " groups " + std::to_string(c.groups) + " lanes " +
         std::to_string(c.lanes) + (c.adds_last ? " last" : "") +
         (c.activation.swish ? " swish" : "");
}

TEST(DirectConvolution, is_what_the_definition_says) {
  Random random(1);
  for (int i = 0; i < 200; ++i) {
    const DirectConvolution c = random_dense(random);
    EXPECT_LT(error_of(c, Numbers(c, random), random.below(3) > 0), 2e-6) << describe(c);
  }
}

TEST(DirectConvolution, sums_of_many_numbers_are_added_in_steps) {
  Random random(2);
  for (int i = 0; i < 12; ++i) {
    DirectConvolution c;
    c.channels = 128 + random.below(200);
    c.outputs = 1 + random.below(300);
    c.height = c.width = {6, 6, 3, 1, 1, 1};
    c.lanes = any_lanes(random);
    choose_end(c, random);
    EXPECT_LT(error_of(c, Numbers(c, random), true), 4e-6) << describe(c);
  }
}

/// Windows as wide as the image, of which most is padding.
TEST(DirectConvolution, skips_padding_of_wide_dilations) {
  Random random(7);
  int skipping = 0;
  for (int i = 0; i < 40; ++i) {
    DirectConvolution c;
    c.images = 1 + random.below(2);
    c.groups = 1 + random.below(2);
    c.channels = c.groups * (32 + 4 * random.below(100));
    c.outputs = c.groups * (1 + random.below(150));
    for (WindowAxis* axis : {&c.height, &c.width}) {
      axis->input = 1 + random.below(9);
      axis->window = 3 + 2 * random.below(2);
      axis->dilation = 1 + random.below(9);
      axis->stride = 1 + random.below(2);
      axis->pad = axis->window / 2 * axis->dilation - random.below(2);
      axis->output = (axis->input - 1) / axis->stride + 1;
    }
    c.lanes = any_lanes(random);
    choose_end(c, random);
    skipping += skips_padding(c) ? 1 : 0;
    EXPECT_LT(error_of(c, Numbers(c, random), random.below(3) > 0), 4e-6) << describe(c);
  }
  EXPECT_GT(skipping, 20);
}

TEST(DirectConvolution, of_single_channels_is_what_the_definition_says) {
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    DirectConvolution c = random_dense(random);
    c.groups = c.outputs = c.channels = 2 + random.below(40);
    c.depth = {};
    EXPECT_LT(error_of(c, Numbers(c, random), random.below(3) > 0), 2e-6) << describe(c);
  }
}

/// With windows of usual networks: several results are computed at once.
TEST(DirectConvolution, of_single_channels_in_usual_windows) {
  Random random(4);
  for (const std::size_t window : {3, 5})
    for (const std::size_t stride : {1, 2})
      for (const std::size_t size : {1, 2, 7, 14, 23}) {
        DirectConvolution c;
        c.groups = c.outputs = c.channels = 20;
        c.height = c.width = {size, (size - 1) / stride + 1, window, stride, 1, window / 2};
        c.lanes = any_lanes(random);
        choose_end(c, random);
        EXPECT_LT(error_of(c, Numbers(c, random), true), 2e-6) << describe(c);
      }
}

TEST(DirectConvolution, cuts_off_where_a_pad_is_negative) {
  Random random(5);
  for (const std::size_t groups : {1, 16}) {
    DirectConvolution c;
    c.channels = c.outputs = 16;
    c.groups = groups;
    c.height = c.width = {12, 8, 3, 1, 1, static_cast<std::size_t>(-1)};
    c.lanes = any_lanes(random);
    EXPECT_LT(error_of(c, Numbers(c, random), true), 2e-6) << describe(c);
  }
}

TEST(DirectConvolution, numbers_that_are_none_stay_so_and_reach_no_other_pixel) {
  Random random(6);
  DirectConvolution c;
  c.channels = 6;  // no multiple of what is read at once
  c.outputs = 8;
  c.height = c.width = {4, 4, 1, 1, 1, 0};
  c.activation = {1, 0, 6};
  Numbers n(c, random);
  n.source[5 * c.channels + 2] = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> found = computed(c, n, true);
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(std::isnan(found[i]), i / c.outputs == 5) << i;
}

}  // namespace
}  // namespace millrace::kernels
