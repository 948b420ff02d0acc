#include "kernels/plain/byte_convolution.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "kernels/plain/pieces.h"
#include "kernels/plain/turn_bytes.h"

namespace millrace::kernels {
namespace {

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

/// Where windows go.
struct ByteWindows {
  std::uint8_t* bytes;
  std::size_t count, apart;
};

template <std::size_t size>
[[gnu::always_inline]] inline void copy_ends(const std::uint8_t* from, std::size_t count,
                                             std::uint8_t* to) {
  std::memcpy(to, from, size);
  std::memcpy(to + count - size, from + count - size, size);
}

/// Without a call where they are few.
[[gnu::always_inline]] inline void copy_few(const std::uint8_t* from, std::size_t count,
                                            std::uint8_t* to) {
  if (count > 32) {
    std::memcpy(to, from, count);
  } else if (count >= 16) {
    copy_ends<16>(from, count, to);
  } else if (count >= 8) {
    copy_ends<8>(from, count, to);
  } else {
    for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
  }
}

}  // namespace

/// One image with its channels innermost.
struct PackedConvolution::Image {
  std::size_t number;
  const std::uint8_t* pixels;
  bool is_signed;     // as they lie; all that is made of them is unsigned, larger by 128
  std::int32_t zero;  // unsigned
  const ByteConvolution& convolution;

  const std::uint8_t* pixel(std::size_t y, std::size_t x) const {
    return pixels + (y * convolution.width.input + x) * convolution.channels;
  }
  /// As a pixel outside of the image would lie.
  std::vector<std::uint8_t> outside() const {
    const std::int32_t byte = is_signed ? zero ^ 0x80 : zero;
    return std::vector<std::uint8_t>(convolution.channels, static_cast<std::uint8_t>(byte));
  }

  /// Whether each result's window is one pixel, and these follow each other.
  bool is_matrix() const {
    const auto passes = [](const ByteWindow& w) {
      return w.kernel == 1 && w.stride == 1 && w.pad == 0 && w.input == w.output;
    };
    return convolution.groups == 1 && passes(convolution.height) && passes(convolution.width);
  }

  /// Results of a row from `x` on whose windows lie inside of the image, as far as columns go.
  std::size_t inner_end(std::size_t x) const {
    const ByteWindow& w = convolution.width;
    if (!ImagePlace(w, x, 0).inside || !ImagePlace(w, x, w.kernel - 1).inside) return x;
    const auto last =
        static_cast<std::ptrdiff_t>(w.input - 1 - (w.kernel - 1) * w.dilation) + w.pad;
    return std::min(w.output, static_cast<std::size_t>(last) / w.stride + 1);
  }

  /// The pixels of a result's window, one after the other; others in place of those outside.
  /// Behind them the last one, up to whole fours.
  void find_neighbours(std::size_t y, std::size_t x, const std::uint8_t* outside,
                       std::vector<const std::uint8_t*>& to) const {
    const ByteWindow &height = convolution.height, &width = convolution.width;
    to.clear();
    for (std::size_t ky = 0; ky < height.kernel; ++ky) {
      const ImagePlace row(height, y, ky);
      for (std::size_t kx = 0; kx < width.kernel; ++kx) {
        const ImagePlace column(width, x, kx);
        to.push_back(row.inside && column.inside ? pixel(row.at, column.at) : outside);
      }
    }
    to.resize((to.size() + 3) / 4 * 4, to.back());
  }

  /// Calls pixels(x, count, neighbours, apart) for results of a row that follow each other: the
  /// neighbours of the next one lie `apart` bytes behind.
  template <class Pixels>
  void for_row(std::size_t y, const std::uint8_t* outside, const Pixels& pixels_of) const {
    const ByteWindow &height = convolution.height, &width = convolution.width;
    const bool rows_inside =
        ImagePlace(height, y, 0).inside && ImagePlace(height, y, height.kernel - 1).inside;
    std::vector<const std::uint8_t*> neighbours;
    for (std::size_t x = 0, end = 0; x < width.output; x = end) {
      end = rows_inside ? std::max(inner_end(x), x + 1) : x + 1;
      find_neighbours(y, x, outside, neighbours);
      pixels_of(x, end - x, neighbours, width.stride * convolution.channels);
    }
  }

  /// What one filter of a group sees of results of a row, `apart` bytes from one to the next.
  void write_windows(std::size_t group, std::size_t y, std::size_t x, ByteWindows to) const {
    const ByteWindow &height = convolution.height, &width = convolution.width;
    const std::size_t each = convolution.group_channels();
    const bool whole = convolution.groups == 1 && width.dilation == 1;
    const std::size_t run = width.kernel * each, inner = whole ? inner_end(x) : x;
    const std::size_t step = width.stride * convolution.channels;
    for (std::size_t ky = 0; ky < height.kernel; ++ky, to.bytes += run) {
      const ImagePlace row(height, y, ky);
      std::size_t done = 0;
      if (row.inside && inner > x) {
        done = std::min(inner - x, to.count);
        const std::uint8_t* from = pixel(row.at, ImagePlace(width, x, 0).at);
        for (std::size_t i = 0; i < done; ++i, from += step)
          copy_few(from, run, to.bytes + i * to.apart);
      }
      for (; done < to.count; ++done) write_row(group, row, x + done, to.bytes + done * to.apart);
    }
  }

 private:
  /// One row of a result's window.
  void write_row(std::size_t group, const ImagePlace& row, std::size_t x, std::uint8_t* to) const {
    const ByteWindow& width = convolution.width;
    const std::size_t each = convolution.group_channels();
    for (std::size_t kx = 0; kx < width.kernel; ++kx, to += each) {
      const ImagePlace column(width, x, kx);
      if (row.inside && column.inside)
        copy_few(pixel(row.at, column.at) + group * each, each, to);
      else
        std::memset(to, is_signed ? zero ^ 0x80 : zero, each);
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

void PackedConvolution::run_depthwise(const Image& given, const TakeSums& take) const {
  const ByteConvolution& c = convolution_;
  const std::size_t size = given.is_signed ? c.height.input * c.width.input * c.channels : 0;
  std::vector<std::uint8_t> turned(given.pixels, given.pixels + size);
  turn_signs(turned.data(), size);
  Image image = given;
  if (given.is_signed) image.pixels = turned.data();
  image.is_signed = false;
  const std::size_t columns = c.width.output;
  const std::vector<std::uint8_t> outside = image.outside();
  const std::vector<std::int32_t> starts = depthwise_->starts(image.zero);
  const auto write_rows = [&](std::size_t first, std::size_t last) {
    const auto sums = std::make_unique_for_overwrite<std::int32_t[]>(columns * c.channels);
    for (std::size_t y = first; y < last; ++y) {
      image.for_row(y, outside.data(),
                    [&](std::size_t x, std::size_t count, auto& neighbours, std::size_t apart) {
                      for (std::size_t i = 0; i < count; ++i) {
                        depthwise_->write(std::span(neighbours).first(depthwise_->neighbours()),
                                          starts.data(), sums.get() + (x + i) * c.channels);
                        for (const std::uint8_t*& each : neighbours) each += apart;
                      }
                    });
      take({image.number, y * columns, columns, 0, c.channels, sums.get(), c.channels});
    }
  };
  in_pieces_of_rows(c.height.output, columns * c.channels * depthwise_->neighbours() / 4,
                    write_rows);
}

void PackedConvolution::run_depthwise(const Image& image, const ByteTarget& target) const {
  const ByteConvolution& c = convolution_;
  if (!depthwise_->has_quads()) {
    const auto take = [&](const Sums& sums) {
      for (std::size_t p = 0; p < sums.count; ++p)
        rescale({1, sums.filters, sums.apart, sums.values + p * sums.apart}, target.rescaling,
                target.to + (sums.pixel + p) * target.apart);
    };
    return run_depthwise(image, TakeSums(take));
  }
  const std::vector<std::uint8_t> outside = image.outside();
  const DepthwiseToBytes to_bytes(*depthwise_, image.zero, image.is_signed, target.rescaling);
  const auto write_rows = [&](std::size_t first, std::size_t last) {
    for (std::size_t y = first; y < last; ++y)
      image.for_row(
          y, outside.data(),
          [&](std::size_t x, std::size_t count, auto& neighbours, std::size_t apart) {
            to_bytes.write({neighbours, count, apart, false,
                            target.to + (y * c.width.output + x) * target.apart, target.apart});
          });
  };
  in_pieces_of_rows(c.height.output, c.width.output * c.channels * depthwise_->neighbours() / 16,
                    write_rows);
}

ByteRows PackedConvolution::rows_of(const Image& image, std::size_t group) const {
  ByteRows rows{convolution_.pixels(), image.zero, {}};
  rows.is_signed = image.is_signed;
  if (image.is_matrix()) rows.bytes = image.pixels;
  rows.write = [this, image, group](std::size_t first, std::size_t count, std::uint8_t* to,
                                    std::size_t apart) {
    const std::size_t columns = convolution_.width.output;
    for (std::size_t i = 0, some = 0; i < count; i += some) {
      const std::size_t y = (first + i) / columns, x = (first + i) % columns;
      const std::size_t inner = image.inner_end(x);
      some = std::min(count - i, inner > x ? inner - x : 1);
      image.write_windows(group, y, x, {to + i * apart, some, apart});
    }
  };
  return rows;
}

void PackedConvolution::run(const std::uint8_t* from, std::int32_t zero,
                            const TakeSums& take) const {
  const std::size_t area = convolution_.height.input * convolution_.width.input;
  const std::size_t size = area * convolution_.channels, filters = convolution_.group_filters();
  const auto pixels = std::make_unique_for_overwrite<std::uint8_t[]>(size);
  Image image{0, pixels.get(), convolution_.is_signed, zero + (convolution_.is_signed ? 128 : 0),
              convolution_};
  for (; image.number < convolution_.images; ++image.number, from += size) {
    turn_bytes({convolution_.channels, area, from, area, pixels.get(), convolution_.channels});
    if (depthwise_) run_depthwise(image, take);
    for (std::size_t g = 0; g < groups_.size(); ++g)
      groups_[g].multiply(
          rows_of(image, g), [&](std::size_t first, std::size_t count, const std::int32_t* sums) {
            take({image.number, first, count, g * filters, filters, sums, groups_[g].width()});
          });
  }
}

void PackedConvolution::run(const std::uint8_t* from, std::int32_t zero,
                            const ByteTarget& target) const {
  const ByteConvolution& c = convolution_;
  const std::size_t size = c.height.input * c.width.input * c.channels;
  Image image{0, from, c.is_signed, zero + (c.is_signed ? 128 : 0), c};
  ByteTarget to = target;
  for (; image.number < c.images; ++image.number) {
    if (depthwise_) run_depthwise(image, to);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      ByteTarget part = to;
      part.to += g * c.group_filters();
      part.rescaling.factors += g * c.group_filters();
      if (part.rescaling.bias) part.rescaling.bias += g * c.group_filters();
      groups_[g].multiply(rows_of(image, g), part);
    }
    image.pixels += size;
    to.to += c.pixels() * to.apart;
  }
}

}  // namespace millrace::kernels
