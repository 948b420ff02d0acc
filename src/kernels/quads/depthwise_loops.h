#pragma once
// Inside quad_depthwise.h: the loops over the taps of some pixels, by kind of processor.
#include <cstddef>
#include <cstdint>

namespace millrace::kernels {

inline constexpr std::size_t depthwise_block = 16;  // channels

/// Pixels that follow each other, for a block of channels.
struct DepthwisePixels {
  const std::uint8_t* const* taps = nullptr;  // where all channels of the first pixel's taps lie
  std::size_t tap_count = 0;                  // even
  std::size_t channel = 0;                    // the first one of the block
  std::size_t count = 0, apart = 0;           // bytes from a pixel to the next
  const std::byte* weights = nullptr;         // of the block
  const std::int32_t* starts = nullptr;
  std::int32_t* sums = nullptr;  // of the block
  std::size_t sum_apart = depthwise_block;  // from one pixel's to the next
};

/// Bytes of a block's weights for two taps.
std::size_t depthwise_pair_size();
/// Where a number of a channel and the first or second tap of a pair goes.
void put_depthwise(std::int8_t weight, std::size_t channel, std::size_t tap, std::byte* pair);
void sum_depthwise(const DepthwisePixels& pixels);

}  // namespace millrace::kernels
