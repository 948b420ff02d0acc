// What lies where, and the weights: winograd.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/integers.h"
#include "kernels/winograd/winograd.h"
#include "kernels/winograd/winograd_block.h"
#include "kernels/winograd/winograd_points.h"

namespace millrace::kernels {
namespace {

/// Size of products that are written together, unless one group has more: so that they stay in a
/// second-level cache until then.
constexpr std::size_t product_bytes = 512 * 1024;

/// So that a block stays in a second-level cache, beside weights, but that the weights, of which
/// there are the more the more channels there are, are not read too often. `of_tile`: bytes.
std::size_t blocks_of(const WinogradConvolution& c, std::size_t tiles, std::size_t of_tile) {
  constexpr std::size_t block_bytes = 768 * 1024;
  const std::size_t as_many_weights = c.channels * c.outputs / (c.channels + c.outputs);
  const std::size_t least = std::clamp<std::size_t>(3 * as_many_weights / 8, 48, 128);
  const std::size_t fit = std::max<std::size_t>(block_bytes / of_tile, 1);
  return std::max<std::size_t>(std::min(divided_up(tiles, fit), tiles / least), 1);
}

/// A row of a window at the points of a tile: the inverse of what to_points() and from_points() do.
void window_at_points(std::size_t tile, const std::array<double, 3>& g, std::array<double, 6>& u) {
  if (tile == 2) {
    u = {g[0], (g[0] + g[1] + g[2]) / 2, (g[0] - g[1] + g[2]) / 2, g[2], 0, 0};
    return;
  }
  constexpr double aa = double{inner_point} * double{inner_point};
  constexpr double bb = double{outer_point} * double{outer_point};
  const auto at = [&](double x, double others) {
    return (g[0] + x * g[1] + x * x * g[2]) / (2 * x * x * (x * x - others));
  };
  u = {g[0] / (aa * bb),    at(inner_point, bb),          at(-double{inner_point}, bb),
       at(outer_point, aa), at(-double{outer_point}, aa), g[2]};
}

bool has_integers(const WinogradConvolution& c) { return factors_in_place(c) > 1; }
bool has_bytes(const WinogradConvolution& c) { return factors_in_place(c) == 4; }

/// At a point pixels are mostly about an eleventh of what they can be.
constexpr double gain_at_points = 11;

/// An output's weights at all points: by channel and point.
std::vector<WindowAtPoints> output_at_points(const WinogradConvolution& c,
                                             std::span<const float> weights, std::size_t output) {
  std::vector<WindowAtPoints> result;
  for (std::size_t channel = 0; channel < c.channels; ++channel) {
    const auto window = weights.subspan(9 * (output * c.channels + channel)).first<9>();
    result.push_back(at_points(c.tile, window));
  }
  return result;
}

/// Where an output's weights at a point begin, in pairs of output vectors of 32-bit places.
std::size_t place_of(const WinogradConvolution& c, const WinogradTiles& tiles, std::size_t point,
                     std::size_t output) {
  const std::size_t pair = 2 * c.lanes;
  const std::size_t index = tiles.index_of({point, output / pair});
  return index * tiles.channels * c.lanes * pair + output % pair;
}

void pack_floats(const WinogradConvolution& c, const WinogradTiles& tiles,
                 std::span<const float> weights, float* packed) {
  for (std::size_t output = 0; output < c.outputs; ++output) {
    const auto windows = output_at_points(c, weights, output);
    for (std::size_t point = 0; point < tiles.points; ++point) {
      float* const to = packed + place_of(c, tiles, point, output);
      for (std::size_t channel = 0; channel < c.channels; ++channel)
        to[channel * 2 * c.lanes] = static_cast<float>(windows[channel][point]);
    }
  }
}

/// Where a channel's word is among those of 32: of float16 numbers in turn one of the first and one
/// of the second half, as pixels are converted.
std::size_t word_of(const WinogradConvolution& c, std::size_t channel) {
  const std::size_t all = 2 * c.lanes, half = channel / c.lanes % 2;
  if (c.source != StoredNumber::f16) return channel;
  return channel / all * all + channel % c.lanes * 2 + half;
}

/// Two channels side by side in each place; then the scales.
void pack_integers(const WinogradConvolution& c, const WinogradTiles& tiles,
                   std::span<const float> weights, float* packed) {
  auto* const words = reinterpret_cast<std::int16_t*>(packed);
  const std::size_t pair = 2 * c.lanes, side = c.tile + 2;
  std::vector<double> of_output(c.channels);
  for (std::size_t output = 0; output < c.outputs; ++output) {
    const auto windows = output_at_points(c, weights, output);
    for (std::size_t point = 0; point < tiles.points; ++point) {
      for (std::size_t i = 0; i < c.channels; ++i) of_output[i] = windows[i][point];
      const float scale = scale_of_weights(of_output, integer_channels, tiles.largest);
      std::int16_t* const to = words + 2 * place_of(c, tiles, point, output);
      for (std::size_t i = 0; i < c.channels; ++i) {
        const std::size_t at = word_of(c, i);
        to[at / 2 * 2 * pair + at % 2] =
            static_cast<std::int16_t>(integer_of(of_output[i], scale, INT16_MAX));
      }
      const float gain = gain_at_point(c.tile, point / side) * gain_at_point(c.tile, point % side);
      const std::size_t index = tiles.index_of({point, output / pair});
      packed[tiles.scales + index * pair + output % pair] = scale * (gain / tiles.largest);
    }
  }
}

/// Where a channel's byte is among those of 64: in turn 8 of the first and 8 of the second half, as
/// the instruction that packs pixels leaves them.
std::size_t byte_of(std::size_t channel) {
  const std::size_t half = channel / 32, in_half = channel % 32;
  return in_half / 8 * 16 + half * 8 + in_half % 8;
}

/// What a weight of 1 stands for if the largest is 127; no number where one is infinite or none.
float scale_of_bytes(std::span<const double> of_output) {
  double most = 1e-30;
  for (const double weight : of_output) {
    if (!std::isfinite(weight)) return std::numeric_limits<float>::quiet_NaN();
    most = std::max(most, std::abs(weight));
  }
  return static_cast<float>(most / INT8_MAX);
}

/// Four channels side by side in each place; then the scales; then what the pixels' shift by 128
/// adds to the sums.
void pack_bytes(const WinogradConvolution& c, const WinogradTiles& tiles,
                std::span<const float> weights, float* packed) {
  const std::size_t pair = 2 * c.lanes;
  float* const scales = packed + tiles.scales;
  auto* const shifts =
      reinterpret_cast<std::int32_t*>(scales + tiles.points * tiles.outputs * pair);
  std::vector<double> of_output(c.channels);
  for (std::size_t output = 0; output < c.outputs; ++output) {
    const auto windows = output_at_points(c, weights, output);
    for (std::size_t point = 0; point < tiles.points; ++point) {
      for (std::size_t i = 0; i < c.channels; ++i) of_output[i] = windows[i][point];
      const float scale = scale_of_bytes(of_output);
      auto* const to = reinterpret_cast<std::int8_t*>(packed + place_of(c, tiles, point, output));
      std::int32_t sum = 0;
      for (std::size_t i = 0; i < c.channels; ++i) {
        const std::size_t at = i / 64 * 64 + byte_of(i % 64);
        const std::int32_t weight = integer_of(of_output[i], scale, INT8_MAX);
        to[at / 4 * 4 * pair + at % 4] = static_cast<std::int8_t>(weight);
        sum += weight;
      }
      const std::size_t index = tiles.index_of({point, output / pair});
      const std::size_t place = index * pair + output % pair;
      scales[place] = scale;
      shifts[place] = 128 * sum;
    }
  }
}

}  // namespace

WinogradTiles::WinogradTiles(const WinogradConvolution& c)
    : points((c.tile + 2) * (c.tile + 2)),
      down(divided_up(c.height.output, c.tile)),
      across(divided_up(c.width.output, c.tile)),
      count(c.images * down * across),
      channels(divided_up(c.channels, factors_in_place(c) * c.lanes)),
      outputs(divided_up(c.outputs, 2 * c.lanes)) {
  group = std::min<std::size_t>(outputs, std::max<std::size_t>(divided_up(outputs, 2), 2));
  const std::size_t vector = points * c.lanes * sizeof(float);
  block = divided_up(count, blocks_of(c, count, vector * (channels + 2 * group)));
  const std::size_t groups = divided_up(outputs, group);
  const std::size_t fit = std::max<std::size_t>(product_bytes / (group * 2 * vector * block), 1);
  together = std::min(divided_up(groups, divided_up(groups, fit)) * group, outputs);
  const std::size_t piece = tiles_of_piece(c.lanes, factors_in_place(c));
  // One vector more, so that the points of a tile do not all fall into the same place of a cache.
  point_apart = (channels * round_up(block, piece) + 1) * c.lanes;
  product_apart = (2 * block + 1) * c.lanes;
  products = points * point_apart;
  zeros = products + together * points * product_apart;
  working = zeros + channels * c.lanes;
  if (!has_integers(c)) return;
  factors = working;
  magnitudes = factors + block * (has_bytes(c) ? points : 1);
  const bool measures = is_half(c.source);
  working = magnitudes + (measures ? c.images * c.height.input * c.width.input / 2 + 1 : 0);
  scales = points * outputs * channels * c.lanes * 2 * c.lanes;
  largest = largest_of_pixels(std::min(c.channels, integer_channels), gain_at_points);
}

std::size_t WinogradTiles::index_of(const Weights& weights) const {
  const std::size_t first = weights.output / group * group;
  const std::size_t in_group = std::min(group, outputs - first);
  return first * points + weights.point * in_group + weights.output - first;
}

WinogradTiles::Weights WinogradTiles::weights_at(std::size_t index) const {
  const std::size_t first = index / (group * points) * group;
  const std::size_t in_group = std::min(group, outputs - first), rest = index - first * points;
  return {rest / in_group, first + rest % in_group};
}

WindowAtPoints at_points(std::size_t tile, std::span<const float, 9> window) {
  const std::size_t side = tile + 2;
  std::array<std::array<double, 6>, 3> rows;
  for (std::size_t k = 0; k < 3; ++k)
    window_at_points(tile, {window[3 * k], window[3 * k + 1], window[3 * k + 2]}, rows[k]);
  WindowAtPoints result = {};
  for (std::size_t x = 0; x < side; ++x) {
    std::array<double, 6> column;
    window_at_points(tile, {rows[0][x], rows[1][x], rows[2][x]}, column);
    for (std::size_t y = 0; y < side; ++y) result[y * side + x] = column[y];
  }
  return result;
}

std::size_t packed_size(const WinogradConvolution& c) {
  const WinogradTiles tiles(c);
  const std::size_t rows = tiles.channels * c.lanes + factors_in_place(c) / 2;
  return tiles.points * tiles.outputs * rows * 2 * c.lanes * sizeof(float);
}

std::string form_of_weights(const WinogradConvolution& c) {
  return fmt::format("winograd 4 {} {} {} {}{}", c.tile, c.lanes, c.outputs, c.channels,
                     has_bytes(c)                    ? " bytes 1"
                     : c.source == StoredNumber::f16 ? " integers 2, halves"
                     : has_integers(c)               ? " integers 2"
                                                     : "");
}

void pack_weights(const WinogradConvolution& c, std::span<const float> weights,
                  std::span<std::byte> to) {
  const WinogradTiles tiles(c);
  std::fill(to.begin(), to.end(), std::byte{0});
  auto* const packed = reinterpret_cast<float*>(to.data());
  if (has_bytes(c))
    pack_bytes(c, tiles, weights, packed);
  else if (has_integers(c))
    pack_integers(c, tiles, weights, packed);
  else
    pack_floats(c, tiles, weights, packed);
}

}  // namespace millrace::kernels
