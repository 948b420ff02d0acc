#include "kernels/half/half_winograd.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/activate.h"
#include "kernels/direct/end_of_sums.h"
#include "kernels/float16.h"
#include "kernels/half/half_numbers.h"
#include "kernels/half/half_panels.h"
#include "kernels/half/half_sums.h"
#include "kernels/winograd/winograd_points.h"

namespace millrace::kernels {
namespace {

constexpr float point_scale = 32;

/// What float16 sums at points lose grows on the way back to results: there are fewer products in
/// one.
HalfDepth depth_of(const HalfTiles& t) { return HalfDepth(t.depth, t.points == 36 ? 16 : 32); }

/// Behind the weights, in bytes: by panel, point and output.
std::size_t winograd_scales(const HalfTiles& t) {
  return t.panels * t.points * t.depth * half_panel * sizeof(Half);
}

/// An output's numbers at a point by channel, and the output's place in the packed weights.
struct PointOfOutput {
  std::span<const double> numbers;
  std::size_t place, output;
};

void pack_point(const HalfTiles& t, const HalfDepth& depth, const PointOfOutput& point,
                std::byte* packed) {
  const std::size_t in_panel = point.output % half_panel;
  double most = 0;
  for (std::size_t k = 0; k < point.numbers.size();) {
    const std::size_t end = std::min(depth.end_of_block(k), point.numbers.size());
    double sum = 0;
    for (; k < end; ++k) sum += std::abs(point.numbers[k]);
    if (!(sum <= most)) most = sum;
  }
  const float scale = half_scale(most);
  Half* const to = reinterpret_cast<Half*>(packed) + point.place * t.depth * half_panel + in_panel;
  for (std::size_t k = 0; k < point.numbers.size(); ++k)
    to[k * half_panel] = to_float16(static_cast<float>(point.numbers[k] / double{scale}));
  auto* const scales = reinterpret_cast<float*>(packed + winograd_scales(t));
  scales[point.place * half_panel + in_panel] = scale * point_scale;
}

#if defined(__aarch64__) && !defined(__clang__)

constexpr std::size_t some = 4;  // float32 numbers of a vector
using Four = LanesOf<some>::Type;

[[gnu::always_inline]] inline Four four_of(float32x4_t x) { return reinterpret_cast<Four>(x); }

/// Float16 numbers, or zeros where there are less than four.
[[gnu::always_inline]] inline Four read_four(const Half* from, std::size_t count) {
  uint16x4_t x = vdup_n_u16(0);
  if (count >= some)
    x = vld1_u16(from);
  else
    std::memcpy(&x, from, count * sizeof(Half));
  return four_of(vcvt_f32_f16(vreinterpret_f16_u16(x)));
}
[[gnu::always_inline]] inline void write_four(const Four& x, Half* to, std::size_t count) {
  const uint16x4_t y = vreinterpret_u16_f16(vcvt_f16_f32(reinterpret_cast<float32x4_t>(x)));
  if (count >= some)
    vst1_u16(to, y);
  else
    std::memcpy(to, &y, count * sizeof(Half));
}

/// Some tiles that follow each other.
struct TileBlock {
  const HalfWinograd& c;
  const HalfTiles& t;
  const HalfWinogradOperands& o;
  std::size_t first, count;

  struct Place {
    std::size_t image, y, x;  // of the first result
  };
  Place place_of(std::size_t index) const {
    const std::size_t at = first + index, column = at % t.across, row = at / t.across;
    return {row / t.down, row % t.down * c.tile, column * c.tile};
  }
  /// Numbers of the tiles of the block at a point.
  Half* at_point(std::size_t point) const {
    return reinterpret_cast<Half*>(o.working) + point * t.block * t.depth;
  }
  /// Sums of the tiles of the block at a point, of a panel.
  float* sums_at(std::size_t panel, std::size_t point) const {
    auto* const products = reinterpret_cast<float*>(o.working + t.products);
    return products + (panel * t.points + point) * t.block * half_panel;
  }
};

template <std::size_t tile>
class TileLoops {
 public:
  explicit TileLoops(const TileBlock& block) : b_(block) {}

  /// A tile's pixels to its points.
  void read(std::size_t index) const {
    const Half* pixels[side * side];
    find_pixels(index, pixels);
    const std::size_t channels = b_.c.channels, apart = b_.t.block * b_.t.depth;
    Half* to = b_.at_point(0) + index * b_.t.depth;
    for (std::size_t i = 0; i < b_.t.depth; i += some, to += some) {
      const std::size_t count = i + some <= channels ? some : i < channels ? channels - i : 0;
      if (count == some)
        read_channels<true>(pixels, {i, some, apart}, to);
      else
        read_channels<false>(pixels, {i, count, apart}, to);
    }
  }

  /// All tiles at all points, for a panel of outputs.
  void multiply_panel(std::size_t panel) const {
    const HalfDepth depth = depth_of(b_.t);
    const auto* const scales = reinterpret_cast<const float*>(b_.o.weights + winograd_scales(b_.t));
    for (std::size_t point = 0; point < b_.t.points; ++point) {
      const std::size_t place = panel * b_.t.points + point;
      HalfRows rows = {};
      rows.from = b_.at_point(point);
      rows.from_stride = b_.t.depth;
      rows.depth = b_.t.depth;
      rows.block = depth.block;
      rows.with = reinterpret_cast<const Half*>(b_.o.weights) + place * b_.t.depth * half_panel;
      rows.scales = scales + place * half_panel;
      rows.kept = b_.sums_at(panel, point);
      rows.begins = true;
      rows.outputs = half_panel;
      rows.convolution = &b_.c;
      multiply(rows, b_.count);
    }
  }

  void write_panel(std::size_t panel) const {
    const std::size_t end = std::min((panel + 1) * half_panel, b_.c.outputs);
    const bool is_plain = end_of(b_.c) != SumsEnd::other;
    for (std::size_t index = 0; index < b_.count; ++index)
      for (std::size_t output = panel * half_panel; output < end; output += some) {
        const std::size_t count = std::min(some, end - output);
        if (count < some || !is_plain)
          write<false, true>(index, {panel, output, count});
        else
          b_.c.adds ? write<true, true>(index, {panel, output, some})
                    : write<true, false>(index, {panel, output, some});
      }
  }

 private:
  static constexpr std::size_t side = tile + 2;

  void find_pixels(std::size_t index, const Half* (&pixels)[side * side]) const {
    const TileBlock::Place place = b_.place_of(index);
    const WindowAxis &h = b_.c.height, &w = b_.c.width;
    const auto* const zeros = reinterpret_cast<const Half*>(b_.o.working + b_.t.zeros);
    for (std::size_t i = 0; i < side; ++i)
      for (std::size_t j = 0; j < side; ++j) {
        const std::size_t y = place.y + i - h.pad, x = place.x + j - w.pad;
        const bool inside = y < h.input && x < w.input;  // else also below zero
        const std::size_t pixel = (place.image * h.input + y) * w.input + x;
        pixels[i * side + j] = inside ? b_.o.source + pixel * b_.c.channels : zeros;
      }
  }

  struct Channels {
    std::size_t first, count;
    std::size_t apart;  // of their points
  };
  template <bool whole>
  void read_channels(const Half* const* pixels, const Channels& channels, Half* to) const {
    const std::size_t first = channels.first, count = whole ? some : channels.count;
    tile_to_points<Four, side>(
        [&](std::size_t i, std::size_t j) [[gnu::always_inline]] {
          return read_four(pixels[i * side + j] + first, count) * (1 / point_scale);
        },
        [&](std::size_t i, std::size_t j, const Four& v) [[gnu::always_inline]] {
          write_four(v, to + (i * side + j) * channels.apart, some);
        });
  }

  struct Outputs {
    std::size_t panel, first, count;
  };
  template <bool plain, bool adds>
  void write(std::size_t index, const Outputs& outputs) const {
    const HalfWinograd& c = b_.c;
    const TileBlock::Place place = b_.place_of(index);
    const std::size_t down = std::min(tile, c.height.output - place.y);
    const std::size_t across = std::min(tile, c.width.output - place.x);
    const std::size_t pixel =
        (place.image * c.height.output + place.y) * c.width.output + place.x;
    Half* const result = b_.o.result + pixel * c.outputs + outputs.first;
    const std::size_t count = plain ? some : outputs.count, pixel_apart = c.outputs;
    const std::size_t row_apart = c.width.output * c.outputs;
    const std::size_t apart = b_.t.block * half_panel;
    const float* const from = b_.sums_at(outputs.panel, 0) + index * half_panel +
                              outputs.first % half_panel;
    Four bias = {};
    if (b_.o.bias) std::memcpy(&bias, b_.o.bias + outputs.first, count * sizeof(float));
    const Four low = c.activation.low - Four{}, high = c.activation.high - Four{};
    tile_from_points<Four, tile>(
        [&](std::size_t i, std::size_t j) [[gnu::always_inline]] {
          Four x;
          read_vector(x, from + (i * side + j) * apart);
          return x;
        },
        [&](std::size_t i, std::size_t j, Four y) [[gnu::always_inline]] {
          if (i >= down || j >= across) return;
          Half* const at = result + i * row_apart + j * pixel_apart;
          y += bias;
          if constexpr (plain) {
            if constexpr (adds) y += read_four(at, some);
            clip(y, low, high);
          } else {
            y = finished(y, c.adds ? read_four(at, count) : Four{}, c);
          }
          write_four(y, at, count);
        });
  }

  const TileBlock& b_;
};

template <std::size_t tile>
void convolve_block(const TileBlock& block) {
  const TileLoops<tile> loops(block);
  const auto count = static_cast<std::ptrdiff_t>(block.count);
  const auto panels = static_cast<std::ptrdiff_t>(block.t.panels);
#if defined(_OPENMP)
#pragma omp parallel for schedule(static)
#endif
  for (std::ptrdiff_t i = 0; i < count; ++i) loops.read(static_cast<std::size_t>(i));
#if defined(_OPENMP)
#pragma omp parallel for schedule(static)
#endif
  for (std::ptrdiff_t i = 0; i < panels; ++i) {
    loops.multiply_panel(static_cast<std::size_t>(i));
    loops.write_panel(static_cast<std::size_t>(i));
  }
}
#endif

}  // namespace

HalfTiles::HalfTiles(const HalfWinograd& c)
    : points((c.tile + 2) * (c.tile + 2)),
      down(divided_up(c.height.output, c.tile)),
      across(divided_up(c.width.output, c.tile)),
      count(c.images * down * across),
      depth(round_up(c.channels, half_lanes)),
      panels(divided_up(c.outputs, half_panel)) {
  constexpr std::size_t least = 16, most_bytes = 384 * 1024;  // of tiles at their points
  const std::size_t of_tile = points * depth * sizeof(Half);
  const std::size_t fit = std::max(most_bytes / of_tile / 8 * 8, least);
  block = divided_up(count, divided_up(count, fit));
  constexpr std::size_t line = 64;
  zeros = round_up(block * of_tile, line);
  products = round_up(zeros + depth * sizeof(Half), line);
  working = products + panels * points * block * half_panel * sizeof(float);
}

std::size_t packed_size(const HalfWinograd& c) {
  const HalfTiles tiles(c);
  return winograd_scales(tiles) + tiles.panels * tiles.points * half_panel * sizeof(float);
}

std::string form_of_weights(const HalfWinograd& c) {
  return fmt::format("half winograd 1 {} {} {}", c.tile, c.outputs, c.channels);
}

void pack_weights(const HalfWinograd& c, std::span<const float> weights, std::span<std::byte> to) {
  std::fill(to.begin(), to.end(), std::byte{0});
  const HalfTiles tiles(c);
  std::vector<WindowAtPoints> windows(c.channels);
  std::vector<double> numbers(c.channels);
  const HalfDepth depth = depth_of(tiles);
  for (std::size_t output = 0; output < c.outputs; ++output) {
    for (std::size_t i = 0; i < c.channels; ++i)
      windows[i] = at_points(c.tile, weights.subspan(9 * (output * c.channels + i)).first<9>());
    for (std::size_t point = 0; point < tiles.points; ++point) {
      for (std::size_t i = 0; i < c.channels; ++i) numbers[i] = windows[i][point];
      const std::size_t place = output / half_panel * tiles.points + point;
      pack_point(tiles, depth, {numbers, place, output}, to.data());
    }
  }
}

#if defined(__aarch64__) && !defined(__clang__)
void convolve(const HalfWinograd& c, const HalfTiles& tiles, const HalfWinogradOperands& operands) {
  std::fill_n(operands.working + tiles.zeros, tiles.depth * sizeof(Half), std::byte{0});
  for (std::size_t first = 0; first < tiles.count; first += tiles.block) {
    const TileBlock block{c, tiles, operands, first, std::min(tiles.block, tiles.count - first)};
    c.tile == 4 ? convolve_block<4>(block) : convolve_block<2>(block);
  }
}
#else
void convolve(const HalfWinograd&, const HalfTiles&, const HalfWinogradOperands&) {}
#endif

}  // namespace millrace::kernels
