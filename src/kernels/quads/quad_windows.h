#pragma once
// Inside quad_convolution.h: the bytes under windows, side by side.
#include <cstddef>
#include <cstdint>

#include "kernels/quads/quad_convolution.h"

namespace millrace::kernels {

/// Windows of a group's channels: by tap, then by channel, as the unit counts.
class QuadWindows {
 public:
  QuadWindows(const QuadConvolution& convolution, const std::byte* source, std::size_t group);

  /// Size of a window.
  std::size_t size() const { return c_.taps() * channels_; }
  /// Whether the windows are the pixels as they lie, one after the other.
  bool are_pixels() const;
  const std::uint8_t* pixel(std::size_t index) const { return source_ + index * c_.channels; }

  /// The windows of some pixels that follow each other, `apart` bytes from one to the next. Behind
  /// each one zeros.
  void write(std::size_t first, std::size_t count, std::uint8_t* to, std::size_t apart) const;

 private:
  struct Corner {  // of a window, in the image; below zero as numbers that wrap around
    std::size_t image, z, y, x;
  };
  Corner corner_of(std::size_t index) const;
  bool is_inside(const Corner& corner) const;
  const std::uint8_t* place_of(const Corner& corner) const;
  void write_inside(const std::uint8_t* from, std::uint8_t* to) const;
  void write_any(const Corner& corner, std::uint8_t* to) const;

  const QuadConvolution& c_;
  const std::uint8_t* source_;
  std::size_t channels_;     // of the group
  std::size_t taps_of_run_;  // whose bytes lie side by side in the source
  std::uint8_t turn_;        // what of the source's bits is turned
  std::uint8_t outside_;     // a byte of padding
};

}  // namespace millrace::kernels
