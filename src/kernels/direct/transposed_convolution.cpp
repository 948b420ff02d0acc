#include "kernels/direct/transposed_convolution.h"

#include <fmt/format.h>

#include <vector>

#include "kernels/activate.h"
#include "kernels/bend.h"
#include "kernels/lane_products.h"

namespace millrace::kernels {
namespace {

/// Position e of the window reaches result q * stride + e % stride from input q - e / stride.
WindowAxis axis_of_phases(const WindowAxis& axis) {
  WindowAxis result;
  result.input = axis.input;
  result.output = divided_up(axis.output + axis.pad, axis.stride);
  result.window = (axis.window - 1) * axis.dilation / axis.stride + 1;
  result.pad = result.window - 1;
  return result;
}

struct TransposedTap {
  std::size_t tap, phase;
};
/// For a position of the window: the tap of the phases' window, which runs the other way.
TransposedTap tap_of(const WindowAxis& axis, std::size_t position) {
  const std::size_t at = position * axis.dilation;
  return {axis_of_phases(axis).window - 1 - at / axis.stride, at % axis.stride};
}

std::size_t phases(const TransposedConvolution& c) {
  return c.depth.stride * c.height.stride * c.width.stride;
}

/// A row of results.
struct PhaseRow {
  const TransposedConvolution& c;
  const float* bias;
  const float* from;  // of the row's first place, at its phase
  float* to;

  template <std::size_t lanes>
  [[gnu::always_inline]] void run() const {
    const std::size_t outputs = c.outputs / c.groups, size = phases(c) * outputs;
    for (std::size_t x = 0; x < c.width.output; ++x) {
      const std::size_t at = x + c.width.pad;
      const float* const place = from + at / c.width.stride * c.groups * size;
      for (std::size_t group = 0; group < c.groups; ++group)
        finish<lanes>(place + group * size + at % c.width.stride * outputs, group * outputs,
                      to + x * c.outputs + group * outputs);
    }
  }

 private:
  template <std::size_t lanes>
  [[gnu::always_inline]] void finish(const float* sums, std::size_t output, float* results) const {
    using Vector = typename LanesOf<lanes>::Type;
    for_each_vector<lanes>(c.outputs / c.groups, [&](std::size_t i, std::size_t some)
                                                     __attribute__((always_inline)) {
      Vector x = {}, more = {};
      read_first(x, sums + i, some);
      if (bias) read_first(more, bias + output + i, some);
      write_first(results + i, activated<Vector>(x + more, c.activation), some);
    });
  }
};

}  // namespace

DirectConvolution phases_of(const TransposedConvolution& c) {
  DirectConvolution result;
  result.images = c.images;
  result.channels = c.channels;
  result.outputs = c.outputs * phases(c);
  result.groups = c.groups;
  result.lanes = c.lanes;
  result.depth = axis_of_phases(c.depth);
  result.height = axis_of_phases(c.height);
  result.width = axis_of_phases(c.width);
  return result;
}

std::size_t packed_size(const TransposedConvolution& c) { return packed_size(phases_of(c)); }

std::string form_of_weights(const TransposedConvolution& c) {
  const auto text = [](const WindowAxis& axis) {
    return fmt::format("{}/{}/{}", axis.window, axis.stride, axis.dilation);
  };
  return fmt::format("transposed {} {} {} {}", form_of_weights(phases_of(c)), text(c.depth),
                     text(c.height), text(c.width));
}

void pack_weights(const TransposedConvolution& c, std::span<const float> weights,
                  std::span<std::byte> to) {
  const DirectConvolution made = phases_of(c);
  const std::size_t outputs = c.outputs / c.groups, channels = c.channels / c.groups;
  const std::size_t in_plane = c.height.window * c.width.window, taps = c.depth.window * in_plane;
  std::vector<float> turned(made.outputs * channels * made.taps(), 0.f);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::size_t output = i / taps % outputs, channel = i / taps / outputs;
    const TransposedTap behind = tap_of(c.depth, i % taps / in_plane);
    const TransposedTap down = tap_of(c.height, i % in_plane / c.width.window);
    const TransposedTap across = tap_of(c.width, i % c.width.window);
    const std::size_t plane = behind.phase * c.height.stride + down.phase;
    const std::size_t phase =
        channel / channels * phases(c) + plane * c.width.stride + across.phase;
    const std::size_t row = (phase * outputs + output) * channels + channel % channels;
    const std::size_t line = (row * made.depth.window + behind.tap) * made.height.window + down.tap;
    turned[line * made.width.window + across.tap] = weights[i];
  }
  pack_weights(made, turned, to);
}

void place_phases(const TransposedConvolution& c, const float* bias, const float* phases_from,
                  float* result) {
  const DirectConvolution made = phases_of(c);
  const auto rows = static_cast<std::ptrdiff_t>(c.images * c.depth.output * c.height.output);
#if defined(_OPENMP)
#pragma omp parallel for schedule(static) if (rows > 1)
#endif
  for (std::ptrdiff_t i = 0; i < rows; ++i) {
    const std::size_t row = static_cast<std::size_t>(i), plane = row / c.height.output;
    const std::size_t image = plane / c.depth.output, z = plane % c.depth.output + c.depth.pad;
    const std::size_t y = row % c.height.output + c.height.pad;
    const std::size_t place =
        (image * made.depth.output + z / c.depth.stride) * made.height.output + y / c.height.stride;
    const std::size_t phase = (z % c.depth.stride * c.height.stride + y % c.height.stride) *
                              c.width.stride * (c.outputs / c.groups);
    const float* const from = phases_from + place * made.width.output * made.outputs + phase;
    run_in(c.lanes, PhaseRow{c, bias, from, result + row * c.width.output * c.outputs});
  }
}

}  // namespace millrace::kernels
