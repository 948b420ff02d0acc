// What lies where, and the weights: winograd.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "engine/onednn/winograd.h"
#include "engine/onednn/winograd_points.h"

namespace millrace::engine::onednn {
namespace {

std::size_t divided_up(std::size_t number, std::size_t by) { return (number + by - 1) / by; }

/// So that a block stays in a second-level cache, beside weights, but that the weights, of which
/// there are the more the more channels there are, are not read too often. `of_tile`: bytes.
std::size_t blocks_of(const WinogradConvolution& c, std::size_t tiles, std::size_t of_tile) {
  constexpr std::size_t block_bytes = 512 * 1024;
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

}  // namespace

WinogradTiles::WinogradTiles(const WinogradConvolution& c)
    : points((c.tile + 2) * (c.tile + 2)),
      down(divided_up(c.height.output, c.tile)),
      across(divided_up(c.width.output, c.tile)),
      count(c.images * down * across),
      channels(divided_up(c.channels, c.lanes)),
      outputs(divided_up(c.outputs, 2 * c.lanes)) {
  const std::size_t of_tile = points * (channels + 2 * outputs) * c.lanes * sizeof(float);
  block = divided_up(count, blocks_of(c, count, of_tile));
  // One vector more, so that the points of a tile do not all fall into the same place of a cache.
  point_apart = (channels * block + 1) * c.lanes;
  products = points * point_apart;
  zeros = products + outputs * block * points * 2 * c.lanes;
  working = zeros + channels * c.lanes;
}

std::size_t packed_size(const WinogradConvolution& c) {
  const WinogradTiles tiles(c);
  return tiles.points * tiles.outputs * tiles.channels * c.lanes * 2 * c.lanes * sizeof(float);
}

std::string form_of_weights(const WinogradConvolution& c) {
  return fmt::format("winograd 1 {} {} {} {}", c.tile, c.lanes, c.outputs, c.channels);
}

void pack_weights(const WinogradConvolution& c, std::span<const float> weights,
                  std::span<std::byte> to) {
  const WinogradTiles tiles(c);
  const std::size_t side = c.tile + 2, pair = 2 * c.lanes;
  std::fill(to.begin(), to.end(), std::byte{0});
  auto* const packed = reinterpret_cast<float*>(to.data());
  for (std::size_t i = 0; i < c.outputs * c.channels; ++i) {
    const float* const window = weights.data() + 9 * i;
    const std::size_t output = i / c.channels, channel = i % c.channels;
    std::array<std::array<double, 6>, 3> rows;
    for (std::size_t k = 0; k < 3; ++k)
      window_at_points(c.tile, {window[3 * k], window[3 * k + 1], window[3 * k + 2]}, rows[k]);
    for (std::size_t x = 0; x < side; ++x) {
      std::array<double, 6> column;
      window_at_points(c.tile, {rows[0][x], rows[1][x], rows[2][x]}, column);
      for (std::size_t y = 0; y < side; ++y) {
        const std::size_t block = (y * side + x) * tiles.outputs + output / pair;
        const std::size_t row = block * tiles.channels * c.lanes + channel;
        packed[row * pair + output % pair] = static_cast<float>(column[y]);
      }
    }
  }
}

}  // namespace millrace::engine::onednn
