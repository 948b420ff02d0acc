#pragma once
// Products of bytes whose sums become bytes while they are in registers, for processors that
// multiply four pairs of bytes at once: has_quads(). Each result is that of rescale().
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/plain/byte_numbers.h"

namespace millrace::kernels {

/// Rows of bytes by panels of 32 columns: for each four bytes of a row, 32 times four weights.
struct ByteTiles {
  std::size_t rows = 0, row_apart = 0;  // bytes from one row to the next
  const std::uint8_t* bytes = nullptr;
  std::size_t steps = 0;              // of four bytes
  const std::byte* panels = nullptr;  // one behind the other
  std::size_t columns = 0;
  const std::int32_t* starts = nullptr;  // of the sums; for whole panels
  // What all weights of a column lack, which the sum of a row's bytes is multiplied with; for whole
  // panels, and null if nothing lacks.
  const std::int32_t* lacking = nullptr;
  const std::int32_t* row_sums = nullptr;  // of the bytes, if something lacks
};
/// Sums of rows of `size` bytes.
void sum_bytes(const ByteTiles& tiles, std::size_t size, std::int32_t* to);
/// Sums as they are, for whole panels.
void multiply_to_sums(const ByteTiles& tiles, std::int32_t* to, std::size_t apart);
/// `rescaling` has no bias: that is in the starts; factors are there for whole panels.
void multiply_to_bytes(const ByteTiles& tiles, const ByteRescaling& rescaling, std::uint8_t* to,
                       std::size_t apart);

/// Channels that are done at once.
inline constexpr std::size_t quad_channels = 64;
/// Where the channel of a block lies in its weights, starts and factors: as interleaved rows of
/// bytes come out.
std::size_t quad_place(std::size_t channel);

/// A block of channels of a depthwise convolution: for each four neighbours, four weights of each
/// channel.
struct QuadBlock {
  std::size_t first = 0, channels = quad_channels;  // of them there
  const std::byte* weights = nullptr;
  const std::int32_t* starts = nullptr;
  const float* factors = nullptr;
};
/// Pixels of a row. `neighbours`: the bytes of all channels, of each neighbour of the first pixel;
/// whole fours, of which those behind the last one are read for nothing. Those of the next pixel
/// lie `from_apart` bytes behind. Bytes of signed integers are turned into integers larger by 128
/// on the way.
struct QuadRow {
  std::span<const std::uint8_t* const> neighbours;
  std::size_t count = 1, from_apart = 0;
  bool is_signed = false;
  std::uint8_t* to = nullptr;
  std::size_t to_apart = 0;
};
void write_quads(const QuadRow& row, const QuadBlock& block, const ByteRescaling& rescaling);

}  // namespace millrace::kernels
