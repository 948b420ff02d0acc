// What lies where, and the weights: integer_convolution.h.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/integer/integer_convolution.h"
#include "kernels/integer/integer_loops.h"
#include "kernels/integers.h"

namespace millrace::kernels {
namespace {

constexpr std::size_t panel_bytes = 384 * 1024;  // of a second-level cache, beside weights
constexpr std::size_t line = 64;                 // bytes
/// Products of 16 bits are summed up as integers so far, before they are added as float32 numbers.
constexpr std::size_t summed_words = 512;
/// The largest pixel is mostly so many times the mean one.
constexpr double gain_of_pixels = 8;
/// Windows of a strip that it takes to keep the registers busy.
constexpr std::size_t least_strip = 6;

bool is_in_words(const IntegerConvolution& c) { return is_half(c.source); }

std::size_t bytes_of_block(const IntegerPanels& panels) { return panels.places() * integer_place; }

/// Whether windows of a strip share what they overlap in.
bool can_overlap(const IntegerConvolution& c, const IntegerPanels& p, std::size_t row_strips) {
  const bool fits = !is_in_words(c) || p.run_places * p.in_place <= summed_words;
  return p.folded && c.width.window > c.width.stride && fits &&
         c.width.output >= least_strip * row_strips;
}

/// Whether the pixels lie in the image as they would in the panels.
bool is_direct(const IntegerConvolution& c) {
  const auto moves_on = [](const WindowAxis& axis) {
    return axis.window == 1 && axis.stride == 1 && axis.pad == 0 && axis.output == axis.input;
  };
  return c.source == StoredNumber::u8 && c.channels % 4 == 0 && moves_on(c.height) &&
         moves_on(c.width);
}

/// An output's weights in the order of a window's places, by number.
std::vector<float> window_of(const IntegerConvolution& c, const IntegerPanels& p,
                             std::span<const float> of_output) {
  const std::size_t taps = c.height.window * c.width.window;
  std::vector<float> window(p.places() * p.in_place);
  for (std::size_t tap = 0; tap < taps; ++tap)
    for (std::size_t channel = 0; channel < c.channels; ++channel) {
      const std::size_t at = tap * c.channels + channel;
      window[at / p.run * p.run_places * p.in_place + at % p.run] = of_output[channel * taps + tap];
    }
  return window;
}

struct Output {
  const IntegerPanels& panels;
  std::size_t index;
  std::span<std::byte> packed;

  /// Numbers of that kind.
  template <class Number>
  void put(std::size_t at, std::int32_t weight) const {
    const auto number = static_cast<Number>(weight);
    const std::size_t place = at / panels.in_place;
    const std::size_t lane = index % integer_outputs * panels.in_place + at % panels.in_place;
    std::memcpy(packed.data() + index / integer_outputs * bytes_of_block(panels) +
                    place * integer_place + lane * sizeof number,
                &number, sizeof number);
  }
  template <class Scale>
  void put_scale(Scale scale) const {
    std::memcpy(packed.data() + panels.scales + index * sizeof scale, &scale, sizeof scale);
  }
};

void pack_words(const Output& output, std::span<const float> window) {
  const IntegerPanels& p = output.panels;
  const std::vector<double> exact(window.begin(), window.end());
  const float scale = scale_of_weights(exact, p.summed, p.largest);
  for (std::size_t i = 0; i < exact.size(); ++i)
    output.put<std::int16_t>(i, integer_of(exact[i], scale, INT16_MAX));
  output.put_scale(scale / p.largest);
}

/// Pixels with a sign are shifted by 128 to have none. What the integer that stands for 0 adds to
/// the sums is kept.
void pack_bytes(const Output& output, std::span<const float> window, float factor) {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < window.size(); ++i) {
    const std::int32_t weight = integer_of(double{window[i] * factor}, 1, INT8_MAX);
    output.put<std::int8_t>(i, weight);
    sum += weight;
  }
  output.put_scale(output.panels.zero * sum);
}

}  // namespace

IntegerPanels::IntegerPanels(const IntegerConvolution& c)
    : in_place(is_in_words(c) ? 2 : 4),
      run(c.channels),
      folded(c.width.dilation == 1),
      runs(c.height.window),
      direct(is_direct(c)),
      row_strips(c.width.output),
      outputs(divided_up(c.outputs, integer_outputs)) {
  const std::size_t number = is_in_words(c) ? 2 : 1;  // bytes
  (folded ? run : runs) *= c.width.window;
  run_places = divided_up(run, in_place);
  run_apart = run_places * 4;
  if (const auto strips = divided_up(c.width.output, integer_windows);
      can_overlap(c, *this, strips)) {
    overlap = true;
    row_strips = strips;
    strip = divided_up(c.width.output, strips);
    window_apart = c.width.stride * c.channels * number;
    run_apart += round_up((strip - 1) * window_apart, 4);
  }
  // Whole vectors are written, also behind the last number. One line more, so that strips do not
  // all fall into the same place of a cache.
  strip_apart = direct ? c.channels : ((divided_up(runs * run_apart, line) + 1) | 1) * line;
  count = c.images * c.height.output * row_strips;
  const std::size_t fit = std::max(panel_bytes / strip_apart, overlap ? 1 : integer_windows);
  panel = divided_up(count, divided_up(count, fit));
  factors = direct ? 0 : round_up(panel * strip_apart + line, line);
  working = factors + round_up(panel * strip * sizeof(float), line);
  scales = outputs * bytes_of_block(*this);
  const std::size_t numbers = places() * in_place;
  const std::size_t of_run = run_places * in_place;
  summed = !is_in_words(c) ? numbers : overlap ? summed_words / of_run * of_run : summed_words;
  zero = c.source == StoredNumber::s8 ? 128 : c.source_zero;
  largest = largest_of_pixels(std::min(numbers, summed_words), gain_of_pixels);
}

std::size_t packed_size(const IntegerConvolution& c) {
  const IntegerPanels panels(c);
  return panels.scales + panels.outputs * integer_outputs * sizeof(float);
}

std::string form_of_weights(const IntegerConvolution& c) {
  const IntegerPanels panels(c);
  return fmt::format("integers 3 {} {} {} {} {} {} {} {}", c.outputs, c.channels, c.height.window,
                     c.width.window, panels.in_place, panels.run, panels.summed, panels.zero);
}

void pack_weights(const IntegerConvolution& c, std::span<const float> weights,
                  std::span<const float> factors, std::span<std::byte> to) {
  const IntegerPanels panels(c);
  std::fill(to.begin(), to.end(), std::byte{0});
  const std::size_t of_output = c.channels * c.height.window * c.width.window;
  for (std::size_t i = 0; i < c.outputs; ++i) {
    const auto window = window_of(c, panels, weights.subspan(i * of_output, of_output));
    if (is_in_words(c))
      pack_words({panels, i, to}, window);
    else
      pack_bytes({panels, i, to}, window, factors.empty() ? 1 : factors[i]);
  }
}

}  // namespace millrace::kernels
