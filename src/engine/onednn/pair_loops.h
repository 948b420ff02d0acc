#pragma once
// Inside pair_convolution.h: what its loops and its weights agree on.
#include <cstddef>

namespace millrace::engine::onednn {

inline constexpr std::size_t pair_outputs = 32;   // computed at once: two vectors
inline constexpr std::size_t pair_rows = 12;      // windows that the registers hold with them
inline constexpr std::size_t pair_numbers = 512;  // products summed up as integers, before they are
                                                  // added as float32 numbers

}  // namespace millrace::engine::onednn
