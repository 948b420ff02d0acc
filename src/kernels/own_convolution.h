#pragma once
// What all our own convolutions have: amx_convolution.h, integer_convolution.h, winograd.h.
#include <cstddef>
#include <cstdint>
#include <limits>

namespace millrace::kernels {

constexpr std::size_t divided_up(std::size_t number, std::size_t by) {
  return (number + by - 1) / by;
}
constexpr std::size_t round_up(std::size_t number, std::size_t to) {
  return divided_up(number, to) * to;
}

/// How windows lie along the height or the width. In pixels.
struct WindowAxis {
  std::size_t input = 1, output = 1;
  std::size_t window = 1, stride = 1, dilation = 1;
  std::size_t pad = 0;  // before the first pixel
};

/// y = min(max(x < 0 ? slope * x : x, low), high), or y = unit * x / (1 + exp(-x)), or
/// y = unit * x * min(max(x / 6 + 1 / 2, 0), 1)
struct Activation {
  float slope = 1;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  bool swish = false, hard_swish = false;
  float unit = 1;

  bool is_curve() const { return swish || hard_swish; }
};

enum class StoredNumber { f32, bf16, f16, u8, s8 };
/// Whether the number has 16 bits: bfloat16 or float16.
constexpr bool is_half(StoredNumber number) {
  return number == StoredNumber::bf16 || number == StoredNumber::f16;
}
/// In bytes.
constexpr std::size_t size_of(StoredNumber number) {
  if (number == StoredNumber::f32) return 4;
  return is_half(number) ? 2 : 1;
}

struct OwnConvolution {
  std::size_t images = 1, channels = 1, outputs = 1;
  WindowAxis height, width;
  bool adds = false;  // the result to what lies in its place; before the activation
  bool adds_last = false;  // after it
  Activation activation = {};
  StoredNumber source = StoredNumber::f32, result = StoredNumber::f32;
  StoredNumber added = StoredNumber::f32;  // of what it adds to; as wide as the result
  float added_scale = 1;                   // what that is multiplied with
  // For 8 bits, not in winograd.h: the integers that stand for 0.
  std::int32_t source_zero = 0;  // not in amx_convolution.h
  float result_zero = 0, added_zero = 0;
};

}  // namespace millrace::kernels
