// Convolutions and pools of tiles of random shapes are those of loops that are written down
// plainly.
#include "kernels/tile/tile_windows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"

namespace millrace::kernels {
namespace {

/// A tile of windows that may reach beyond its input on all sides.
struct RandomTile {
  explicit RandomTile(std::uint64_t seed) : random(seed) {
    for (std::size_t i = 0; i < 2; ++i) {
      windows.kernel[i] = between(1, 4);
      windows.strides[i] = between(1, 3);
      windows.dilations[i] = between(1, 2);
      windows.pads[i] = between(0, windows.kernel[i] / 2);
    }
    channels = between(1, 9);
    output = planes(between(1, 20), between(1, 9), between(1, 300));
    input = planes(channels, input_side(0, output.rows), input_side(1, output.columns));
  }

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low +
           static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  std::vector<float> numbers(std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = static_cast<float>(random.uniform(-1, 1));
    return values;
  }
  static TilePlanes planes(std::int64_t channels, std::int64_t rows, std::int64_t columns) {
    return {channels, rows, columns, rows * columns, columns};
  }

  /// f(number of the input, position of the kernel) for one channel's window at a pixel.
  template <class F>
  void for_each_in_window(std::int64_t row, std::int64_t column, const F& f) const {
    for (std::int64_t y = 0; y < windows.kernel[0]; ++y)
      for (std::int64_t x = 0; x < windows.kernel[1]; ++x) {
        const std::int64_t r =
            row * windows.strides[0] - windows.pads[0] + y * windows.dilations[0];
        const std::int64_t c =
            column * windows.strides[1] - windows.pads[1] + x * windows.dilations[1];
        if (r >= 0 && r < input.rows && c >= 0 && c < input.columns)
          f(static_cast<std::size_t>(r * input.row_stride + c),
            static_cast<std::size_t>(y * windows.kernel[1] + x));
      }
  }
  std::int64_t taps() const { return windows.kernel[0] * windows.kernel[1]; }

  Random random;
  TileWindows windows;
  TilePlanes input, output;
  std::int64_t channels = 1;

 private:
  std::int64_t input_side(std::size_t axis, std::int64_t outputs) {
    const std::int64_t reach = (windows.kernel[axis] - 1) * windows.dilations[axis] + 1;
    const std::int64_t all = (outputs - 1) * windows.strides[axis] + reach;
    return std::max<std::int64_t>(1, all - windows.pads[axis] - between(0, windows.pads[axis]));
  }
};

double bent(double x, const TileCurve& curve) {
  const double y = x < 0 ? curve.slope * x : x;
  return std::min<double>(std::max<double>(y, curve.low), curve.high);
}

/// f(index, row, column) for the pixels of an output's channel.
template <class F>
void for_each_pixel(const TilePlanes& planes, std::int64_t channel, const F& f) {
  for (std::int64_t row = 0; row < planes.rows; ++row)
    for (std::int64_t column = 0; column < planes.columns; ++column)
      f(static_cast<std::size_t>(channel * planes.channel_stride + row * planes.row_stride +
                                 column),
        row, column);
}

constexpr double tolerance = 1e-4;
constexpr TileCurve leaky{0.1f, -0.8f, 0.9f};

TEST(TileWindows, convolutions_are_right) {
  for (std::uint64_t seed = 0; seed < 240; ++seed) {
    RandomTile tile(seed);
    const std::int64_t taps = tile.taps(), row = tile.channels * taps;
    const auto input = tile.numbers(tile.channels * tile.input.channel_stride);
    const auto weights = tile.numbers(tile.output.channels * row);
    const auto bias = tile.numbers(tile.output.channels);
    const auto before = tile.numbers(tile.output.channels * tile.output.channel_stride);
    const bool adds = seed % 3 == 0;
    const auto convolve = seed % 3 == 1 ? convolve_few : convolve_tile;
    std::vector<float> found = before;
    convolve({tile.input, tile.output, tile.windows, row, adds, &leaky},
             {input.data(), weights.data(), bias.data(), found.data()});
    for (std::int64_t m = 0; m < tile.output.channels; ++m)
      for_each_pixel(tile.output, m, [&](std::size_t at, std::int64_t r, std::int64_t c) {
        double sum = adds ? before[at] : bias[static_cast<std::size_t>(m)];
        for (std::int64_t k = 0; k < tile.channels; ++k)
          tile.for_each_in_window(r, c, [&](std::size_t number, std::size_t tap) {
            sum += weights[static_cast<std::size_t>(m * row + k * taps) + tap] *
                   input[static_cast<std::size_t>(k * tile.input.channel_stride) + number];
          });
        EXPECT_NEAR(found[at], bent(sum, leaky), tolerance) << seed;
      });
    if (HasFailure()) return;
  }
}

TEST(TileWindows, convolutions_of_single_channels_are_right) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    RandomTile tile(seed);
    tile.output.channels = tile.channels;
    const std::int64_t taps = tile.taps();
    const auto input = tile.numbers(tile.channels * tile.input.channel_stride);
    const auto weights = tile.numbers(tile.channels * taps), bias = tile.numbers(tile.channels);
    std::vector<float> found(static_cast<std::size_t>(tile.channels * tile.output.channel_stride));
    convolve_channels({tile.input, tile.output, tile.windows, taps, false, &leaky},
                      {input.data(), weights.data(), bias.data(), found.data()});
    for (std::int64_t m = 0; m < tile.channels; ++m)
      for_each_pixel(tile.output, m, [&](std::size_t at, std::int64_t r, std::int64_t c) {
        double sum = bias[static_cast<std::size_t>(m)];
        tile.for_each_in_window(r, c, [&](std::size_t number, std::size_t tap) {
          sum += weights[static_cast<std::size_t>(m * taps) + tap] *
                 input[static_cast<std::size_t>(m * tile.input.channel_stride) + number];
        });
        EXPECT_NEAR(found[at], bent(sum, leaky), tolerance) << seed;
      });
    if (HasFailure()) return;
  }
}

TEST(TileWindows, largest_numbers_and_averages_are_right) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    RandomTile tile(seed);
    tile.output.channels = tile.channels;
    const auto input = tile.numbers(tile.channels * tile.input.channel_stride);
    std::vector<float> found(static_cast<std::size_t>(tile.channels * tile.output.channel_stride));
    const bool largest = seed % 2 == 0;
    pool_tile({tile.input, tile.output, tile.windows, largest}, input.data(), found.data());
    for (std::int64_t m = 0; m < tile.channels; ++m)
      for_each_pixel(tile.output, m, [&](std::size_t at, std::int64_t r, std::int64_t c) {
        double sum = 0, most = -std::numeric_limits<double>::infinity(), count = 0;
        tile.for_each_in_window(r, c, [&](std::size_t number, std::size_t) {
          const double x = input[static_cast<std::size_t>(m * tile.input.channel_stride) + number];
          sum += x;
          ++count;
          most = std::max(most, x);
        });
        if (count > 0) {
          EXPECT_NEAR(found[at], largest ? most : sum / count, tolerance) << seed;
        }
      });
    if (HasFailure()) return;
  }
}

TEST(TileWindows, what_is_no_number_stays_none_under_a_window) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomTile tile(seed);
    tile.output.channels = tile.channels;
    auto input = tile.numbers(tile.channels * tile.input.channel_stride);
    for (std::size_t i = seed % 5; i < input.size(); i += 11)
      input[i] = std::numeric_limits<float>::quiet_NaN();
    std::vector<float> found(static_cast<std::size_t>(tile.channels * tile.output.channel_stride));
    pool_tile({tile.input, tile.output, tile.windows, true}, input.data(), found.data());
    for (std::int64_t m = 0; m < tile.channels; ++m)
      for_each_pixel(tile.output, m, [&](std::size_t at, std::int64_t r, std::int64_t c) {
        bool none = false;
        float most = -std::numeric_limits<float>::infinity();
        tile.for_each_in_window(r, c, [&](std::size_t number, std::size_t) {
          const float x = input[static_cast<std::size_t>(m * tile.input.channel_stride) + number];
          none = none || std::isnan(x);
          most = std::max(most, x);
        });
        EXPECT_EQ(std::isnan(found[at]), none) << seed;
        if (!none) {
          EXPECT_EQ(found[at], most) << seed;
        }
      });
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace millrace::kernels
