#pragma once
// Inside quad_convolution.h: few bytes, whose sign bits are turned perhaps.
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace millrace::kernels {

/// `size` bytes at once.
template <std::size_t size>
[[gnu::always_inline]] inline void turn_some(const std::uint8_t* from, std::uint8_t turn,
                                             std::uint8_t* to) {
  using Some [[gnu::vector_size(size)]] = std::uint8_t;
  Some some;
  std::memcpy(&some, from, size);
  some ^= turn;
  std::memcpy(to, &some, size);
}
/// The first and the last ones.
template <std::size_t size>
[[gnu::always_inline]] inline void turn_ends(const std::uint8_t* from, std::size_t count,
                                             std::uint8_t turn, std::uint8_t* to) {
  turn_some<size>(from, turn, to);
  turn_some<size>(from + count - size, turn, to + count - size);
}
[[gnu::always_inline]] inline void copy_turned(const std::uint8_t* from, std::size_t count,
                                              std::uint8_t turn, std::uint8_t* to) {
  if (count >= 16) {
    for (std::size_t i = 0; i + 16 < count; i += 16) turn_some<16>(from + i, turn, to + i);
    return turn_some<16>(from + count - 16, turn, to + count - 16);
  }
  if (count >= 8) return turn_ends<8>(from, count, turn, to);
  if (count >= 4) return turn_ends<4>(from, count, turn, to);
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<std::uint8_t>(from[i] ^ turn);
}

}  // namespace millrace::kernels
