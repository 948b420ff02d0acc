#include "kernels/plain/byte_convolution.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "kernels/plain/pieces.h"
#include "kernels/plain/turn_bytes.h"

namespace millrace::kernels {
namespace {

/// Signed integers become unsigned ones that are larger by 128.
void turn_signs(std::uint8_t* bytes, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) bytes[i] ^= 0x80;
}

bool is_depthwise(const ByteConvolution& c) {
  return c.groups > 1 && c.group_channels() == 1 && c.group_filters() == 1;
}

/// The input's position for a place of a window; not inside: outside of the image.
struct ImagePlace {
  std::size_t at = 0;
  bool inside = false;

  ImagePlace(const ByteWindow& window, std::size_t output, std::size_t place) {
    const auto position =
        static_cast<std::ptrdiff_t>(output * window.stride + place * window.dilation) - window.pad;
    inside = position >= 0 && position < static_cast<std::ptrdiff_t>(window.input);
    at = inside ? static_cast<std::size_t>(position) : 0;
  }
};

}  // namespace

/// One image with its channels innermost, unsigned.
struct PackedConvolution::Image {
  std::size_t number;
  std::unique_ptr<std::uint8_t[]> pixels;
  std::int32_t zero;
  const ByteConvolution& convolution;

  const std::uint8_t* pixel(std::size_t y, std::size_t x) const {
    return pixels.get() + (y * convolution.width.input + x) * convolution.channels;
  }

  /// Whether a row of the window's numbers lie side by side in the image.
  bool is_one_run(std::size_t x) const {
    const ByteWindow& width = convolution.width;
    return convolution.groups == 1 && width.dilation == 1 && ImagePlace(width, x, 0).inside &&
           ImagePlace(width, x, width.kernel - 1).inside;
  }

  /// Whether the window of a result lies inside of the image.
  bool is_whole(std::size_t y, std::size_t x) const {
    const ByteWindow &height = convolution.height, &width = convolution.width;
    return ImagePlace(height, y, 0).inside && ImagePlace(height, y, height.kernel - 1).inside &&
           ImagePlace(width, x, 0).inside && ImagePlace(width, x, width.kernel - 1).inside;
  }

  /// The pixels of a result's window, one after the other; others in place of those outside.
  void find_neighbours(std::size_t y, std::size_t x, const std::uint8_t* outside,
                       std::vector<const std::uint8_t*>& to) const {
    const ByteWindow &height = convolution.height, &width = convolution.width;
    std::size_t place = 0;
    for (std::size_t ky = 0; ky < height.kernel; ++ky) {
      const ImagePlace row(height, y, ky);
      for (std::size_t kx = 0; kx < width.kernel; ++kx) {
        const ImagePlace column(width, x, kx);
        to[place++] = row.inside && column.inside ? pixel(row.at, column.at) : outside;
      }
    }
  }

  /// The same, if they are the neighbours of the result before.
  void go_to_neighbours(std::size_t y, std::size_t x, const std::uint8_t* outside,
                        std::vector<const std::uint8_t*>& from_before) const {
    if (x == 0 || !is_whole(y, x) || !is_whole(y, x - 1))
      return find_neighbours(y, x, outside, from_before);
    for (const std::uint8_t*& each : from_before)
      each += convolution.width.stride * convolution.channels;
  }

  /// What one filter of a group sees of a result's pixel.
  void write_window(std::size_t group, std::size_t result, std::uint8_t* to) const {
    const ByteWindow &height = convolution.height, &width = convolution.width;
    const std::size_t y = result / width.output, x = result % width.output;
    const std::size_t each = convolution.group_channels();
    for (std::size_t ky = 0; ky < height.kernel; ++ky) {
      const ImagePlace row(height, y, ky);
      if (row.inside && is_one_run(x)) {
        std::memcpy(to, pixel(row.at, ImagePlace(width, x, 0).at), width.kernel * each);
        to += width.kernel * each;
        continue;
      }
      for (std::size_t kx = 0; kx < width.kernel; ++kx, to += each) {
        const ImagePlace column(width, x, kx);
        if (row.inside && column.inside)
          std::memcpy(to, pixel(row.at, column.at) + group * each, each);
        else
          std::memset(to, zero, each);
      }
    }
  }
};

PackedConvolution::PackedConvolution(const ByteConvolution& convolution,
                                     std::span<const std::int16_t> weights)
    : convolution_(convolution) {
  const std::size_t each = convolution.group_channels();
  const std::size_t area = convolution.height.kernel * convolution.width.kernel;
  if (is_depthwise(convolution)) {
    depthwise_.emplace(convolution.channels, weights);
    return;
  }
  std::vector<std::int16_t> by_pixel(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::size_t filter = i / (each * area), channel = i / area % each;
    by_pixel[(filter * area + i % area) * each + channel] = weights[i];
  }
  const std::size_t filters = convolution.group_filters(), size = filters * each * area;
  for (std::size_t g = 0; g < convolution.groups; ++g)
    groups_.emplace_back(std::span<const std::int16_t>(by_pixel).subspan(g * size, size), filters);
}

void PackedConvolution::run_depthwise(const Image& image, const TakeSums& take) const {
  const ByteConvolution& c = convolution_;
  const std::size_t columns = c.width.output;
  const std::vector<std::uint8_t> outside(c.channels, static_cast<std::uint8_t>(image.zero));
  const std::vector<std::int32_t> starts = depthwise_->starts(image.zero);
  const auto write_rows = [&](std::size_t first, std::size_t last) {
    const auto sums = std::make_unique_for_overwrite<std::int32_t[]>(columns * c.channels);
    std::vector<const std::uint8_t*> neighbours(depthwise_->neighbours());
    for (std::size_t y = first; y < last; ++y) {
      for (std::size_t x = 0; x < columns; ++x) {
        image.go_to_neighbours(y, x, outside.data(), neighbours);
        depthwise_->write(neighbours, starts.data(), sums.get() + x * c.channels);
      }
      take({image.number, y * columns, columns, 0, c.channels, sums.get(), c.channels});
    }
  };
  in_pieces_of_rows(c.height.output, columns * c.channels * depthwise_->neighbours() / 4,
                    write_rows);
}

void PackedConvolution::run_group(const Image& image, std::size_t group,
                                  const TakeSums& take) const {
  const PackedBytes& weights = groups_[group];
  ByteRows rows{convolution_.pixels(), image.zero, {}};
  rows.write = [&](std::size_t first, std::size_t count, std::uint8_t* to, std::size_t apart) {
    for (std::size_t i = 0; i < count; ++i) image.write_window(group, first + i, to + i * apart);
  };
  const std::size_t filters = convolution_.group_filters();
  weights.multiply(rows, [&](std::size_t first, std::size_t count, const std::int32_t* sums) {
    take({image.number, first, count, group * filters, filters, sums, weights.width()});
  });
}

void PackedConvolution::run(const std::uint8_t* from, std::int32_t zero,
                            const TakeSums& take) const {
  const std::size_t area = convolution_.height.input * convolution_.width.input;
  const std::size_t size = area * convolution_.channels;
  Image image{0, std::make_unique_for_overwrite<std::uint8_t[]>(size),
              zero + (convolution_.is_signed ? 128 : 0), convolution_};
  for (; image.number < convolution_.images; ++image.number, from += size) {
    turn_bytes(
        {convolution_.channels, area, from, area, image.pixels.get(), convolution_.channels});
    if (convolution_.is_signed) turn_signs(image.pixels.get(), size);
    if (depthwise_) run_depthwise(image, take);
    for (std::size_t g = 0; g < groups_.size(); ++g) run_group(image, g, take);
  }
}

}  // namespace millrace::kernels
