#pragma once
// Convolutions of 8-bit integers, exact: as int32, for images whose channels lie one behind the
// other, or as bytes, for images whose channels lie innermost.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/plain/byte_depthwise.h"
#include "kernels/plain/byte_product.h"

namespace millrace::kernels {

struct ByteWindow {
  std::size_t input = 1, output = 1;
  std::size_t kernel = 1, stride = 1, dilation = 1;
  std::ptrdiff_t pad = 0;  // before the first pixel
};

struct ByteConvolution {
  std::size_t images = 1, channels = 1, filters = 1, groups = 1;
  ByteWindow height, width;
  bool is_signed = false;  // the images

  std::size_t group_channels() const { return channels / groups; }
  std::size_t group_filters() const { return filters / groups; }
  std::size_t pixels() const { return height.output * width.output; }
};

/// With its weights packed.
class PackedConvolution {
 public:
  /// `weights`: row-major filters, channels of a group, height, width; less their zero points, in
  /// [-255, 255].
  PackedConvolution(const ByteConvolution& convolution, std::span<const std::int16_t> weights);

  /// Sums of pixels that follow each other in a row of one image, pixel by pixel: of `filters`
  /// filters from the first of a group on, `apart` numbers from one pixel to the next.
  struct Sums {
    std::size_t image, pixel, count;
    std::size_t first_filter, filters;
    const std::int32_t* values;
    std::size_t apart;
  };
  using TakeSums = std::function<void(const Sums& sums)>;
  /// `zero`: the image's zero point. `take` is called by several threads. Runs on the calling
  /// thread and its OpenMP helpers.
  void run(const std::uint8_t* from, std::int32_t zero, const TakeSums& take) const;

  /// The sums become bytes: of filters, innermost. The images' channels lie innermost too.
  void run(const std::uint8_t* from, std::int32_t zero, const ByteTarget& target) const;

 private:
  struct Image;
  void run_depthwise(const Image& image, const TakeSums& take) const;
  void run_depthwise(const Image& image, const ByteTarget& target) const;
  ByteRows rows_of(const Image& image, std::size_t group) const;

  ByteConvolution convolution_;
  std::vector<PackedBytes> groups_;
  std::optional<PackedDepthwise> depthwise_;
};

}  // namespace millrace::kernels
