#include "kernels/quads/quad_convolution.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "kernels/integers.h"
#include "kernels/quads/quad_depthwise.h"
#include "kernels/quads/quad_finish.h"
#include "kernels/quads/quad_sums.h"
#include "kernels/quads/quad_windows.h"

namespace millrace::kernels {
namespace {

constexpr std::size_t quad_window_bytes = 131'072;  // that lie side by side at once
constexpr std::size_t most_quad_pixels = 64;        // at once
constexpr std::size_t kept_quad_sums = 8192;        // at once
constexpr std::size_t quad_chunk_outputs = 128;     // of a task, or up to twice as many

/// How the work is cut. A task has some pixels and some panels of a group.
struct QuadTasks {
  explicit QuadTasks(const QuadConvolution& c)
      : weights{c.unit, round_up(c.taps() * c.channels_of_group(), shape_of(c.unit).step)},
        panel(shape_of(c.unit).outputs),
        panels(divided_up(c.outputs_of_group(), panel)),
        chunks(std::max<std::size_t>(panels * panel / quad_chunk_outputs, 1)) {
    const std::size_t fit =
        std::clamp<std::size_t>(quad_window_bytes / weights.depth, 1, most_quad_pixels);
    blocks = divided_up(c.pixels(), fit);
    pixels = divided_up(c.pixels(), blocks);
  }
  std::size_t count(const QuadConvolution& c) const { return c.groups * blocks * chunks; }
  std::size_t starts(const QuadConvolution& c) const {  // behind the panels
    return c.groups * panels * weights.size();
  }

  PanelWeights weights;
  std::size_t panel, panels;   // outputs of a panel; panels of a group
  std::size_t chunks;          // of the panels
  std::size_t blocks, pixels;  // of the images; pixels of a block
};

class QuadTask {
 public:
  QuadTask(const QuadConvolution& c, const QuadTasks& tasks, const QuadOperands& o)
      : c_(c), t_(tasks), o_(o) {}

  void run(std::size_t index) {
    const std::size_t chunk = index % t_.chunks, block = index / t_.chunks % t_.blocks;
    group_ = index / t_.chunks / t_.blocks;
    first_pixel_ = t_.pixels * block;
    pixels_ = std::min(t_.pixels, c_.pixels() - first_pixel_);
    find_rows();
    const std::size_t outputs = kept_quad_sums / (pixels_ * 16) * 16;
    const std::size_t at_once = std::max<std::size_t>(outputs / t_.panel, 1);
    const std::size_t last = t_.panels * (chunk + 1) / t_.chunks;
    for (std::size_t panel = t_.panels * chunk / t_.chunks; panel < last; panel += at_once)
      run_panels(panel, std::min(at_once, last - panel));
  }

 private:
  void find_rows() {
    const QuadWindows windows(c_, o_.source, group_);
    product_.count = pixels_;
    product_.depth = product_.row_apart = t_.weights.depth;
    product_.rows = bytes_;
    if (windows.are_pixels()) {
      product_.rows = windows.pixel(first_pixel_);
      product_.row_apart = c_.channels;
    } else {
      windows.write(first_pixel_, pixels_, bytes_, t_.weights.depth);
    }
  }

  void run_panels(std::size_t first, std::size_t count) {
    const std::size_t panel = group_ * t_.panels + first;
    product_.panel = o_.weights + panel * t_.weights.size();
    product_.starts =
        reinterpret_cast<const std::int32_t*>(o_.weights + t_.starts(c_)) + panel * t_.panel;
    product_.sums = sums_;
    product_.sum_apart = round_up(count * t_.panel, 16);
    for (std::size_t i = 0; i < count; ++i) {
      multiply(c_.unit, product_);
      product_.panel += t_.weights.size();
      product_.starts += t_.panel;
      product_.sums += t_.panel;
    }
    const std::size_t in_group = first * t_.panel;
    const std::size_t output = group_ * c_.outputs_of_group() + in_group;
    finish({c_, sums_, product_.sum_apart, o_.scales + output, o_.bias + output,
                           o_.result + (first_pixel_ * c_.outputs + output) * size_of(c_.result),
                           pixels_, std::min(count * t_.panel, c_.outputs_of_group() - in_group)});
  }

  const QuadConvolution& c_;
  const QuadTasks& t_;
  const QuadOperands& o_;
  std::size_t group_ = 0, first_pixel_ = 0, pixels_ = 0;
  PanelProduct product_;
  alignas(64) std::uint8_t bytes_[quad_window_bytes];
  alignas(64) std::int32_t sums_[kept_quad_sums];
};

/// As integers.
std::vector<std::int8_t> quad_integers_of(const QuadConvolution& c, std::span<const float> weights,
                                     std::span<const float> factors) {
  std::vector<std::int8_t> result(weights.size());
  const std::size_t of_output = weights.size() / std::max<std::size_t>(c.outputs, 1);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const float factor = factors.empty() ? 1 : factors[i / of_output];
    result[i] = static_cast<std::int8_t>(integer_of(double{weights[i] * factor}, 1, INT8_MAX));
  }
  return result;
}

void pack_quad_panels(const QuadConvolution& c, std::span<const std::int8_t> weights,
                      std::byte* to) {
  const QuadTasks tasks(c);
  const std::size_t taps = c.taps(), channels = c.channels_of_group(), depth = tasks.weights.depth;
  auto* starts = reinterpret_cast<std::int32_t*>(to + tasks.starts(c));
  std::vector<std::int8_t> rows(depth * tasks.panel);
  for (std::size_t panel = 0; panel < c.groups * tasks.panels; ++panel, starts += tasks.panel) {
    std::fill(rows.begin(), rows.end(), std::int8_t{0});
    const std::size_t first = panel % tasks.panels * tasks.panel;
    const std::size_t outputs = std::min(tasks.panel, c.outputs_of_group() - first);
    const std::size_t output = panel / tasks.panels * c.outputs_of_group() + first;
    for (std::size_t i = 0; i < outputs * channels * taps; ++i) {
      const std::int8_t weight = weights[output * channels * taps + i];
      const std::size_t in_panel = i / (channels * taps), channel = i / taps % channels;
      rows[in_panel * depth + i % taps * channels + channel] = weight;
      starts[in_panel] -= c.zero() * weight;
    }
    tasks.weights.pack(rows, to + panel * tasks.weights.size());
  }
}

/// By output, by tap, then by channel.
std::vector<std::int8_t> quad_rows_of(const QuadConvolution& c,
                                      std::span<const std::int8_t> weights) {
  const std::size_t taps = c.taps(), channels = c.channels_of_group(), size = taps * channels;
  std::vector<std::int8_t> rows(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i)
    rows[i / size * size + i % taps * channels + i / taps % channels] = weights[i];
  return rows;
}

}  // namespace

ByteUnit faster_unit(const QuadConvolution& c, std::span<const float> weights,
                     std::span<const float> factors) {
  if (c.is_depthwise()) return ByteUnit::avx2;
  const std::vector<std::int8_t> rows = quad_rows_of(c, quad_integers_of(c, weights, factors));
  const bool by_signs = is_faster_by_signs(rows, c.taps() * c.channels_of_group());
  return by_signs ? ByteUnit::avx2_signs : ByteUnit::avx2;
}

std::size_t packed_size(const QuadConvolution& c) {
  if (c.is_depthwise()) return packed_depthwise_size(c);
  const QuadTasks tasks(c);
  return tasks.starts(c) + c.groups * tasks.panels * tasks.panel * sizeof(std::int32_t);
}

std::string form_of_weights(const QuadConvolution& c) {
  return fmt::format("quads 1 {} {} {} {} {} {}", name_of(c.unit), c.outputs, c.channels, c.groups,
                     c.taps(), c.zero());
}

void pack_weights(const QuadConvolution& c, std::span<const float> weights,
                  std::span<const float> factors, std::span<std::byte> to) {
  std::fill(to.begin(), to.end(), std::byte{0});
  const std::vector<std::int8_t> integers = quad_integers_of(c, weights, factors);
  if (c.is_depthwise()) return pack_depthwise(c, integers, to.data());
  pack_quad_panels(c, integers, to.data());
}

void convolve(const QuadConvolution& c, const QuadOperands& operands) {
  if (c.is_depthwise()) return convolve_depthwise(c, operands);
  const QuadTasks tasks(c);
  const auto count = static_cast<std::ptrdiff_t>(tasks.count(c));
#if defined(_OPENMP)
#pragma omp parallel for schedule(static) if (count > 1)
#endif
  for (std::ptrdiff_t i = 0; i < count; ++i)
    QuadTask(c, tasks, operands).run(static_cast<std::size_t>(i));
}

}  // namespace millrace::kernels
