#pragma once
// Depthwise convolutions of 8-bit integers, as int32 and exact, for images whose channels lie
// innermost.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/plain/byte_tiles.h"

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

  /// Whether sums can become bytes at once: DepthwiseToBytes.
  bool has_quads() const { return !quads_.empty(); }

 private:
  friend class DepthwiseToBytes;

  std::size_t channels_, neighbours_;
  std::vector<std::int16_t> weights_;  // by neighbour, then by channel
  std::vector<std::int32_t> sums_;     // of the weights, by channel
  std::vector<std::int16_t> pairs_;    // for blocks of channels; empty: no instructions for these
  std::vector<std::int8_t> quads_;  // for blocks of channels, as QuadBlock has them; may be empty
  std::size_t parts_ = 1;           // into which each weight falls there, to be a byte with a sign
};

/// For one run. Precondition: has_quads().
class DepthwiseToBytes {
 public:
  /// `zero`: of the images, as unsigned integers; signed ones are made larger by 128.
  DepthwiseToBytes(const PackedDepthwise& weights, std::int32_t zero, bool is_signed,
                   const ByteRescaling& rescaling);
  /// Pixels of a row, by channel; whether bytes are signed is filled in.
  void write(QuadRow row) const;

 private:
  const PackedDepthwise& weights_;
  bool is_signed_;
  ByteRescaling rescaling_;
  std::vector<std::int32_t> starts_;  // in the order of the blocks' places
  std::vector<float> factors_;
};

}  // namespace millrace::kernels
