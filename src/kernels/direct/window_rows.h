#pragma once
// Inside direct_convolution.h: the numbers under windows, side by side.
#include <cstddef>
#include <cstdint>

#include "kernels/direct/direct_convolution.h"
#include "kernels/direct/window_taps.h"

namespace millrace::kernels {

/// A pixel of the result.
struct ResultPixel {
  std::size_t image = 0, z = 0, y = 0, x = 0;
};
ResultPixel pixel_at(const DirectConvolution& convolution, std::size_t index);
ResultPixel next(const DirectConvolution& convolution, ResultPixel pixel);

/// The windows of a group's channels: by tap, then by channel. Numbers of 32 or of 16 bits.
template <class Number>
class WindowRows {
 public:
  /// How many numbers lie in 16 bytes.
  static constexpr std::size_t in_vector = 16 / sizeof(Number);

  WindowRows(const DirectConvolution& convolution, const Number* source, std::size_t group)
      : c_(convolution),
        source_(source + group * convolution.channels_of_group()),
        channels_(convolution.channels_of_group()),
        taps_of_run_(convolution.groups == 1 && convolution.width.dilation == 1
                         ? convolution.width.window
                         : 1),
        whole_(whole_outputs(convolution.width)) {}

  /// Length of all rows together, in numbers.
  std::size_t depth() const { return c_.taps() * channels_; }
  /// Whether the windows are the pixels as they lie, one after the other, to be read in vectors.
  bool are_pixels() const;
  /// Where they are, then; those of the next pixel are c.channels behind.
  const Number* pixel(std::size_t index) const { return source_ + index * c_.channels; }

  /// All numbers of windows that follow each other, each `apart` from the one before.
  struct Windows {
    std::size_t first, count, apart;
  };
  void copy(const Windows& windows, Number* to) const;
  /// Numbers [first, last) of it.
  void copy(const ResultPixel& pixel, std::size_t first, std::size_t last, Number* to) const;

 private:
  struct Run {  // of taps along the width
    std::size_t image, z, y, x;
  };
  Run first_run(const ResultPixel& pixel) const;
  Run run_at(const ResultPixel& pixel, std::size_t index) const;
  bool is_outside(const Run& run) const;
  bool has_whole_rows(const Run& first) const;  // in the image, if its columns are
  void copy_whole(const Run& first, const Windows& windows, Number* to) const;
  template <class Copy>
  void copy_whole(const Number* from, const Windows& windows, Number* to,
                  const Copy& copy_run) const;
  const Number* place_of(const Run& run) const;
  void copy_run(Run run, std::size_t first, std::size_t last, Number* to) const;

  const DirectConvolution& c_;
  const Number* source_;
  std::size_t channels_;     // of the group
  std::size_t taps_of_run_;  // whose numbers lie side by side in the source
  TapRange whole_;           // results of a row whose windows have all columns in the image
};
extern template class WindowRows<float>;
extern template class WindowRows<std::uint16_t>;

}  // namespace millrace::kernels
