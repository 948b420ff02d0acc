// Transposed convolutions against the definition.
#include "kernels/direct/transposed_convolution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "machine.h"
#include "network/tensor.h"
#include "own_samples.h"

namespace millrace::kernels {
namespace {

using namespace test::kernels;  // NOLINT: the vocabulary of these tests

WindowAxis any_axis(Random& random) {
  WindowAxis axis;
  axis.input = 1 + random.below(7);
  axis.window = 1 + random.below(5);
  axis.stride = 1 + random.below(3);
  axis.dilation = 1 + random.below(2);
  const std::size_t whole = (axis.input - 1) * axis.stride + (axis.window - 1) * axis.dilation + 1;
  axis.pad = random.below(std::min<std::size_t>(whole, 3));
  axis.output = whole - axis.pad - random.below(std::min<std::size_t>(whole - axis.pad, 2));
  axis.output += random.below(axis.stride);  // an output padding
  return axis;
}

TransposedConvolution any_transposed(Random& random) {
  TransposedConvolution c;
  c.images = 1 + random.below(2);
  c.groups = 1 + random.below(3);
  c.channels = c.groups * (1 + random.below(9));
  c.outputs = c.groups * (1 + random.below(20));
  if (random.below(3) == 0) c.depth = any_axis(random);
  if (random.below(4) > 0) c.height = any_axis(random);
  c.width = any_axis(random);
  c.lanes = std::min<std::size_t>(std::size_t{4} << random.below(3), vector_lanes());
  if (random.below(2) == 0) c.activation.low = 0;
  return c;
}

std::size_t taps_of(const TransposedConvolution& c) {
  return c.depth.window * c.height.window * c.width.window;
}
std::size_t results_of(const TransposedConvolution& c) {
  return c.images * c.depth.output * c.height.output * c.width.output * c.outputs;
}

struct Factors {
  std::vector<float> source, weights, bias;
};

/// Scattered from each pixel, before the bias.
std::vector<double> sums_of(const TransposedConvolution& c, const Factors& f) {
  std::vector<double> sums(results_of(c), 0.);
  const std::size_t outputs = c.outputs / c.groups, channels = c.channels / c.groups;
  for (std::size_t i = 0; i < f.source.size(); ++i) {
    const std::size_t channel = i % c.channels, x = i / c.channels % c.width.input;
    const std::size_t row = i / c.channels / c.width.input, y = row % c.height.input;
    const std::size_t plane = row / c.height.input, z = plane % c.depth.input;
    const std::size_t taps = taps_of(c);
    for (std::size_t j = 0; j < outputs * taps; ++j) {
      const std::size_t line = j % taps / c.width.window, right = j % c.width.window;
      const std::size_t back = line / c.height.window, down = line % c.height.window;
      const std::size_t oz = z * c.depth.stride + back * c.depth.dilation - c.depth.pad;
      const std::size_t oy = y * c.height.stride + down * c.height.dilation - c.height.pad;
      const std::size_t ox = x * c.width.stride + right * c.width.dilation - c.width.pad;
      if (oz >= c.depth.output || oy >= c.height.output || ox >= c.width.output) continue;
      const std::size_t in_depth = plane / c.depth.input * c.depth.output + oz;
      const std::size_t place = (in_depth * c.height.output + oy) * c.width.output + ox;
      sums[place * c.outputs + channel / channels * outputs + j / taps] +=
          double{f.source[i]} * double{f.weights[channel * outputs * taps + j]};
    }
  }
  return sums;
}

std::vector<float> computed(const TransposedConvolution& c, const Factors& f) {
  network::Buffer weights(Bytes{static_cast<std::int64_t>(packed_size(c))});
  pack_weights(c, f.weights, weights.bytes());
  const DirectConvolution made = phases_of(c);
  std::vector<float> phases(made.pixels() * made.outputs);
  convolve(made, {f.source.data(), reinterpret_cast<const float*>(weights.data()), nullptr,
                  phases.data()});
  std::vector<float> result(results_of(c), std::numeric_limits<float>::quiet_NaN());
  place_phases(c, f.bias.data(), phases.data(), result.data());
  return result;
}

TEST(TransposedConvolution, is_what_the_definition_says) {
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const TransposedConvolution c = any_transposed(random);
    const Factors f{
        random_values(
            c.images * c.depth.input * c.height.input * c.width.input * c.channels, random),
        random_values(c.channels * c.outputs / c.groups * taps_of(c), random),
        random_values(c.outputs, random)};
    const std::vector<double> sums = sums_of(c, f);
    const std::vector<float> found = computed(c, f);
    const double most = c.depth.window == 1 ? 1e-5 : 3e-5;  // sums are longer with a depth
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double y = sums[i] + double{f.bias[i % c.outputs]};
      ASSERT_NEAR(double{found[i]}, std::max(y, double{c.activation.low}), most)
          << describe(c) << " groups " << c.groups << " at " << i;
    }
  }
}

}  // namespace
}  // namespace millrace::kernels
