#pragma once
// Depthwise convolutions of 8-bit integers, as int32 and exact, for images whose channels lie
// innermost.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace millrace::kernels {

/// With its weights packed. Each result is a sum over the neighbours of its pixel: the places of
/// the window.
class PackedDepthwise {
 public:
  /// `weights`: row-major channels, neighbours; in [-255, 255].
  PackedDepthwise(std::size_t channels, std::span<const std::int16_t> weights);

  std::size_t neighbours() const { return neighbours_; }
  /// With what sums begin, by channel, so that `zero` counts as 0 in the images.
  std::vector<std::int32_t> starts(std::int32_t zero) const;
  /// The sums of one pixel, by channel. `neighbours`: the bytes of all channels, of each.
  void write(std::span<const std::uint8_t* const> neighbours, const std::int32_t* starts,
             std::int32_t* sums) const;

 private:
  std::size_t channels_, neighbours_;
  std::vector<std::int16_t> weights_;  // by neighbour, then by channel
  std::vector<std::int16_t> pairs_;    // for blocks of channels; empty: no instructions for these
};

}  // namespace millrace::kernels
