#pragma once
// Inside integer_convolution.h: what its loops and its weights agree on.
#include <cstddef>

namespace millrace::kernels {

inline constexpr std::size_t integer_outputs = 32;    // computed at once: two vectors
inline constexpr std::size_t integer_windows = 12;    // that the registers hold with them
inline constexpr std::size_t integer_place = 2 * 64;  // bytes of their weights for a place

}  // namespace millrace::kernels
