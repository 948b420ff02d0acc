#pragma once
// Numbers for our own convolutions, and what the definition makes of them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "kernels/own_convolution.h"
#include "stored_numbers.h"

namespace millrace::test::kernels {

using millrace::kernels::OwnConvolution;
using millrace::kernels::WindowAxis;

inline std::vector<float> random_values(std::size_t count, Random& random) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.uniform(-1, 1));
  return values;
}

struct Sample {
  std::vector<float> source, weights, bias, before;

  Sample(const OwnConvolution& c, Random& random)
      : source(random_values(c.images * c.height.input * c.width.input * c.channels, random)),
        weights(random_values(c.outputs * c.channels * c.height.window * c.width.window, random)),
        bias(random_values(c.outputs, random)),
        before(random_values(c.images * c.height.output * c.width.output * c.outputs, random)) {}
};

/// Sum of an output at a pixel of the result.
inline double sum_at(const OwnConvolution& c, const Sample& sample, std::size_t pixel,
                     std::size_t output) {
  const std::size_t x = pixel % c.width.output, y = pixel / c.width.output % c.height.output;
  const std::size_t image = pixel / c.width.output / c.height.output;
  const std::size_t taps = c.height.window * c.width.window;
  double sum = 0;
  for (std::size_t tap = 0; tap < taps; ++tap) {
    const std::size_t row = tap / c.width.window, column = tap % c.width.window;
    const std::size_t iy = y * c.height.stride + row * c.height.dilation - c.height.pad;
    const std::size_t ix = x * c.width.stride + column * c.width.dilation - c.width.pad;
    if (iy >= c.height.input || ix >= c.width.input) continue;  // also below zero
    const std::size_t at = ((image * c.height.input + iy) * c.width.input + ix) * c.channels;
    for (std::size_t i = 0; i < c.channels; ++i)
      sum += (static_cast<double>(sample.source[at + i]) - c.source_zero) *
             static_cast<double>(sample.weights[(output * c.channels + i) * taps + tap]);
  }
  return sum;
}

/// What the definition makes of a sum with its bias. `before`: what lies in the result's place.
inline double finished(const OwnConvolution& c, double y, double before) {
  const double added = c.adds ? double{c.added_scale} * (before - double{c.added_zero}) : 0;
  if (!c.adds_last) y += added;
  if (c.activation.swish)
    y *= double{c.activation.unit} / (1 + std::exp(-y));
  else if (c.activation.hard_swish)
    y *= double{c.activation.unit} * std::clamp(y / 6 + 0.5, 0., 1.);
  else if (y < 0)
    y *= double{c.activation.slope};
  y = std::clamp(y, double{c.activation.low}, double{c.activation.high});
  if (c.adds_last) y += added;
  y += double{c.result_zero};
  if (c.result == StoredNumber::u8) y = std::clamp(y, 0., 255.);
  if (c.result == StoredNumber::s8) y = std::clamp(y, -128., 127.);
  return y;
}

/// How far `found` is off beyond its own rounding, in shares of the largest result before the
/// activation. `scale`: of sums.
inline double error_of(const OwnConvolution& c, const Sample& sample,
                       const std::vector<float>& found, double scale = 1) {
  double largest = 1e-9, worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(found[i])) return std::numeric_limits<double>::infinity();
    double y = scale * sum_at(c, sample, i / c.outputs, i % c.outputs);
    y += double{sample.bias[i % c.outputs]};
    const auto before = double{sample.before[i]};
    largest = std::max(largest, std::abs(y + (c.adds ? double{c.added_scale} * before : 0)));
    y = finished(c, y, before);
    worst = std::max(worst, std::abs(y - double{found[i]}) - rounding_of(c.result, y));
  }
  return worst / largest;
}

/// Any window.
inline WindowAxis random_axis(Random& random) {
  WindowAxis axis;
  axis.window = 1 + random.below(5);
  axis.stride = 1 + random.below(3);
  axis.dilation = 1 + random.below(2);
  axis.pad = random.below(axis.window + 1);
  const std::size_t extent = (axis.window - 1) * axis.dilation + 1;
  axis.input = extent + random.below(20);
  axis.output = (axis.input + axis.pad + random.below(axis.window) - extent) / axis.stride + 1;
  return axis;
}

/// Reads numbers of 8 bits, and adds to and writes such or float32 ones.
template <class Convolution>
Convolution with_bytes(Convolution c, Random& random) {
  const auto any = [&] { return random.below(2) == 0 ? StoredNumber::u8 : StoredNumber::s8; };
  c.source = any();
  c.result = random.below(2) == 0 ? any() : StoredNumber::f32;
  const bool is_byte = size_of(c.result) == 1;
  c.added = is_byte ? any() : c.result;
  if (is_byte) c.added_scale = 0.5f;
  return c;
}

/// As their convolution packs these weights.
template <class Pack>
std::vector<std::byte> packed_bytes(std::size_t size, const Pack& pack) {
  std::vector<std::byte> bytes(size);
  pack(std::span(bytes));
  return bytes;
}

inline std::string describe(const OwnConvolution& c) {
  const auto axis = [](const WindowAxis& a) {
    return std::to_string(a.input) + "->" + std::to_string(a.output) + " window " +
           std::to_string(a.window) + "/" + std::to_string(a.stride) + "/" +
           std::to_string(a.dilation) + " pad " + std::to_string(a.pad) + ", ";
  };
  return std::to_string(c.images) + " x " + axis(c.height) + axis(c.width) +
         std::to_string(c.channels) + "->" + std::to_string(c.outputs) + (c.adds ? " adds" : "");
}

}  // namespace millrace::test::kernels
