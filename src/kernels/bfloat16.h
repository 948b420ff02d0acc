#pragma once
// Numbers of 16 bits with the exponent of a float32, in loops that compilers turn into vectors.
#include <bit>
#include <cstdint>

namespace millrace::kernels {

[[gnu::always_inline]] inline float from_bfloat16(std::uint16_t x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16);
}

/// To the nearest, ties to even.
[[gnu::always_inline]] inline std::uint16_t to_bfloat16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

}  // namespace millrace::kernels
