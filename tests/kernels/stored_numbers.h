#pragma once
// Numbers as our own convolutions store them.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/bfloat16.h"
#include "kernels/float16.h"
#include "kernels/own_convolution.h"

namespace millrace::test::kernels {

using millrace::kernels::StoredNumber;

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

}  // namespace millrace::test::kernels
