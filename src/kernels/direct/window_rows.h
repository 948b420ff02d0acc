#pragma once
// Inside direct_convolution.h: the numbers under windows, side by side.
#include <cstddef>

#include "kernels/direct/direct_convolution.h"

namespace millrace::kernels {

/// A pixel of the result.
struct ResultPixel {
  std::size_t image = 0, z = 0, y = 0, x = 0;
};
ResultPixel pixel_at(const DirectConvolution& convolution, std::size_t index);
ResultPixel next(const DirectConvolution& convolution, ResultPixel pixel);

/// The windows of a group's channels: by tap, then by channel.
class WindowRows {
 public:
  WindowRows(const DirectConvolution& convolution, const float* source, std::size_t group);

  /// Of all rows together, in numbers.
  std::size_t depth() const { return c_.taps() * channels_; }
  /// Whether the windows are the pixels as they lie, one after the other, to be read in fours.
  bool are_pixels() const;
  /// Where they are, then; those of the next pixel are c.channels behind.
  const float* pixel(std::size_t index) const { return source_ + index * c_.channels; }

  /// All numbers of a window.
  void copy(const ResultPixel& pixel, float* to) const;
  /// Numbers [first, last) of it.
  void copy(const ResultPixel& pixel, std::size_t first, std::size_t last, float* to) const;

 private:
  struct Run {  // of taps along the width
    std::size_t image, z, y, x;
  };
  Run first_run(const ResultPixel& pixel) const;
  Run run_at(const ResultPixel& pixel, std::size_t index) const;
  bool is_outside(const Run& run) const;
  bool is_inside(const Run& first) const;  // the whole window
  template <class Copy>
  void copy_inside(const float* from, float* to, const Copy& copy_run) const;
  const float* place_of(const Run& run) const;
  void copy_run(Run run, std::size_t first, std::size_t last, float* to) const;

  const DirectConvolution& c_;
  const float* source_;
  std::size_t channels_;     // of the group
  std::size_t taps_of_run_;  // whose numbers lie side by side in the source
};

}  // namespace millrace::kernels
