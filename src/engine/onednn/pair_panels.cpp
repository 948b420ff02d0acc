// What lies where, and the weights: pair_convolution.h.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/onednn/integers.h"
#include "engine/onednn/pair_convolution.h"
#include "engine/onednn/pair_loops.h"

namespace millrace::engine::onednn {
namespace {

constexpr std::size_t panel_bytes = 384 * 1024;  // of a second-level cache, beside weights
constexpr std::size_t line = 64;                 // bytes
/// The largest pixel is mostly so many times the mean one.
constexpr double gain_of_pixels = 8;

std::size_t numbers_of(const PairConvolution& c) {
  return c.height.window * c.width.window * c.channels;
}

std::size_t bytes_of_block(const PairPanels& panels) { return panels.pairs * 2 * line; }

/// An output's weights in the order of a window's numbers.
std::vector<double> window_of(const PairConvolution& c, std::span<const float> of_output) {
  const std::size_t taps = c.height.window * c.width.window;
  std::vector<double> window;
  for (std::size_t tap = 0; tap < taps; ++tap)
    for (std::size_t channel = 0; channel < c.channels; ++channel)
      window.push_back(static_cast<double>(of_output[channel * taps + tap]));
  return window;
}

}  // namespace

PairPanels::PairPanels(const PairConvolution& c)
    : folded(c.width.dilation == 1),
      pairs(divided_up(numbers_of(c), 2)),
      count(c.images * c.height.output * c.width.output),
      outputs(divided_up(c.outputs, pair_outputs)) {
  run = folded ? c.width.window * c.channels : c.channels;
  // Whole vectors are written, also behind the last number. One line more, so that windows do not
  // all fall into the same place of a cache.
  apart = ((divided_up(2 * pairs, line / 2) + 1) | 1) * (line / 2);
  const std::size_t fit = std::max(panel_bytes / (2 * apart), pair_rows);
  panel = divided_up(count, divided_up(count, fit));
  factors = round_up(panel * apart * 2 + line, line);
  working = factors + round_up(panel * sizeof(float), line);
  scales = outputs * bytes_of_block(*this);
  largest = largest_of_pixels(std::min(numbers_of(c), pair_numbers), gain_of_pixels);
}

std::size_t packed_size(const PairConvolution& c) {
  const PairPanels panels(c);
  return panels.scales + panels.outputs * pair_outputs * sizeof(float);
}

std::string form_of_weights(const PairConvolution& c) {
  return fmt::format("pairs 1 {} {} {} {}", c.outputs, c.channels, c.height.window, c.width.window);
}

void pack_weights(const PairConvolution& c, std::span<const float> weights,
                  std::span<std::byte> to) {
  const PairPanels panels(c);
  std::fill(to.begin(), to.end(), std::byte{0});
  auto* const scales = reinterpret_cast<float*>(to.data() + panels.scales);
  const std::size_t of_output = numbers_of(c);
  for (std::size_t output = 0; output < c.outputs; ++output) {
    const auto window = window_of(c, weights.subspan(output * of_output, of_output));
    const float scale = scale_of_weights(window, pair_numbers, panels.largest);
    std::byte* const block = to.data() + output / pair_outputs * bytes_of_block(panels);
    auto* const words = reinterpret_cast<std::int16_t*>(block) + output % pair_outputs * 2;
    for (std::size_t i = 0; i < window.size(); ++i)
      words[i / 2 * 2 * pair_outputs + i % 2] =
          static_cast<std::int16_t>(integer_of(window[i], scale, INT16_MAX));
    scales[output] = scale / panels.largest;
  }
}

}  // namespace millrace::engine::onednn
