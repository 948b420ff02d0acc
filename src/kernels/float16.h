#pragma once
// Numbers of 16 bits with 5 bits of exponent.
#include <bit>
#include <cstdint>

namespace millrace::kernels {

inline float from_float16(std::uint16_t x) {
  const std::uint32_t sign = (x & 0x8000u) << 16, exponent = x >> 10 & 31u, fraction = x & 0x3ffu;
  if (exponent == 0) {
    const float tiny = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -tiny : tiny;
  }
  const std::uint32_t shifted = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | shifted << 23 | fraction << 13);
}

}  // namespace millrace::kernels
