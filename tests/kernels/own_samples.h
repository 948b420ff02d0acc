#pragma once
// Numbers for our own convolutions, and what the definition makes of them.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "kernels/bfloat16.h"
#include "kernels/float16.h"
#include "kernels/own_convolution.h"

namespace millrace::test::kernels {

using millrace::kernels::OwnConvolution;
using millrace::kernels::StoredNumber;
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

/// Of an output at a pixel of the result.
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
      sum += static_cast<double>(sample.source[at + i]) *
             static_cast<double>(sample.weights[(output * c.channels + i) * taps + tap]);
  }
  return sum;
}

/// To the nearest of those that are no smaller than 2^-14, ties to even.
inline std::uint16_t to_float16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) return static_cast<std::uint16_t>(sign);
  const std::uint32_t rounded = magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u);
  return static_cast<std::uint16_t>(sign | rounded >> 13);
}

/// What a number becomes when it is stored and read again.
inline float as_stored(StoredNumber number, float x) {
  if (number == StoredNumber::f32) return x;
  if (number == StoredNumber::bf16)
    return millrace::kernels::from_bfloat16(millrace::kernels::to_bfloat16(x));
  if (number == StoredNumber::f16) return millrace::kernels::from_float16(to_float16(x));
  const bool is_signed = number == StoredNumber::s8;
  return std::clamp(std::nearbyint(x), is_signed ? -128.f : 0.f, is_signed ? 127.f : 255.f);
}

inline std::vector<std::byte> stored(StoredNumber number, const std::vector<float>& values) {
  std::vector<std::byte> result(values.size() * size_of(number));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::byte* const to = result.data() + i * size_of(number);
    const std::uint16_t word = number == StoredNumber::f16
                                   ? to_float16(values[i])
                                   : millrace::kernels::to_bfloat16(values[i]);
    if (number == StoredNumber::f32)
      std::memcpy(to, &values[i], sizeof(float));
    else if (is_half(number))
      std::memcpy(to, &word, sizeof word);
    else
      *to = static_cast<std::byte>(static_cast<int>(values[i]));
  }
  return result;
}

inline float number_at(StoredNumber number, const std::vector<std::byte>& bytes,
                       std::size_t index) {
  const std::byte* const at = bytes.data() + index * size_of(number);
  float x = 0;
  std::uint16_t word = 0;
  if (number == StoredNumber::f32) std::memcpy(&x, at, sizeof x);
  if (is_half(number)) {
    std::memcpy(&word, at, sizeof word);
    x = number == StoredNumber::f16 ? millrace::kernels::from_float16(word)
                                    : millrace::kernels::from_bfloat16(word);
  }
  if (number == StoredNumber::u8) x = static_cast<float>(static_cast<std::uint8_t>(*at));
  if (number == StoredNumber::s8) x = static_cast<float>(static_cast<std::int8_t>(*at));
  return x;
}

/// All of them.
inline std::vector<float> numbers_of(StoredNumber number, const std::vector<std::byte>& bytes) {
  std::vector<float> numbers(bytes.size() / size_of(number));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = number_at(number, bytes, i);
  return numbers;
}

/// What a stored result may be off by its own rounding.
inline double rounding_of(StoredNumber number, double y) {
  if (number == StoredNumber::f32) return 0;
  if (number == StoredNumber::f16) return std::abs(y) / 2048 + 0x1p-14;
  return number == StoredNumber::bf16 ? std::abs(y) / 256 : 0.5;
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
    if (c.adds) y += double{c.added_scale} * double{sample.before[i]};
    largest = std::max(largest, std::abs(y));
    if (y < 0) y *= double{c.activation.slope};
    y = std::clamp(y, double{c.activation.low}, double{c.activation.high});
    if (c.result == StoredNumber::u8) y = std::clamp(y, 0., 255.);
    if (c.result == StoredNumber::s8) y = std::clamp(y, -128., 127.);
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
