#include "kernels/direct/direct_convolution.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/direct/depthwise.h"
#include "kernels/direct/direct_tasks.h"
#include "kernels/direct/tap_by_tap.h"
#include "kernels/direct/window_rows.h"

namespace millrace::kernels {
namespace {

class DirectTask {
 public:
  DirectTask(const DirectConvolution& c, const DirectTasks& tasks, const DirectOperands& o)
      : c_(c), t_(tasks), o_(o) {}

  void run(std::size_t index) {
    const std::size_t chunk = index % t_.chunks, block = index / t_.chunks % t_.blocks;
    group_ = index / t_.chunks / t_.blocks;
    first_pixel_ = t_.pixels * block;
    pixels_ = std::min(t_.pixels, c_.pixels() - first_pixel_);
    const std::size_t first = t_.panels * chunk / t_.chunks;
    const std::size_t last = t_.panels * (chunk + 1) / t_.chunks;
    const bool is_narrow = last * t_.panel > c_.outputs_of_group();
    first_kept_ = t_.keeps_all(c_) ? first : is_narrow ? last - 1 : last;
    const WindowRows<float> windows(c_, o_.source, group_);
    for (std::size_t step = 0; step < t_.steps; ++step) multiply(windows, step, {first, last});
    if (first_kept_ < last) finish({first_kept_, last});
  }

 private:
  struct Panels {
    std::size_t first, last;
  };

  void multiply(const WindowRows<float>& windows, std::size_t step, const Panels& panels) {
    const std::size_t begin = step * t_.step, end = std::min(begin + t_.step, t_.depth);
    PanelRows rows = {};
    rows.depth = end - begin;
    rows.from = windows.are_pixels() ? windows.pixel(first_pixel_) + begin : windows_;
    rows.from_stride = windows.are_pixels() ? c_.channels : t_.step;
    if (!windows.are_pixels()) put_side_by_side(windows, begin, end);
    rows.end = end == t_.depth ? end_of(c_) : SumsEnd::more_follows;
    rows.convolution = &c_;
    add_to_result(rows, begin, {panels.first, first_kept_});
    add_to_kept(rows, begin, {first_kept_, panels.last});
  }

  void put_side_by_side(const WindowRows<float>& windows, std::size_t begin, std::size_t end) {
    const std::size_t filled = std::min(end, windows.depth());
    if (t_.steps == 1) windows.copy({first_pixel_, pixels_, t_.step}, windows_);
    ResultPixel pixel = pixel_at(c_, first_pixel_);
    float* to = windows_;
    for (std::size_t i = 0; i < pixels_; ++i, to += t_.step) {
      if (t_.steps > 1) windows.copy(pixel, begin, filled, to), pixel = next(c_, pixel);
      for (std::size_t k = filled; k < end; ++k) to[k - begin] = 0;
    }
  }

  void add_to_result(PanelRows rows, std::size_t begin, const Panels& panels) {
    const std::size_t first = group_ * c_.outputs_of_group() + panels.first * t_.panel;
    rows.to = o_.result + first_pixel_ * c_.outputs + first;
    rows.to_stride = rows.before_stride = c_.outputs;
    if (begin == 0 && o_.bias) rows.bias = o_.bias + first;
    if (begin > 0 || (c_.adds && !c_.adds_last)) rows.before = rows.to;
    run(rows, begin, panels);
  }

  void add_to_kept(PanelRows rows, std::size_t begin, const Panels& panels) {
    rows.to = kept_;
    rows.to_stride = rows.before_stride = (panels.last - panels.first) * t_.panel;
    if (begin > 0) rows.before = kept_;
    rows.end = SumsEnd::more_follows;
    run(rows, begin, panels);
  }

  void run(PanelRows& rows, std::size_t begin, const Panels& panels) const {
    const std::size_t panel = group_ * t_.panels + panels.first;
    rows.with = o_.weights + (panel * t_.depth + begin) * t_.panel;
    run_in(c_.lanes, RowsByPanels{rows, pixels_, t_.depth, panels.last - panels.first});
  }

  void finish(const Panels& panels) const {
    const std::size_t in_group = panels.first * t_.panel;
    const std::size_t first = group_ * c_.outputs_of_group() + in_group;
    const std::size_t width = (panels.last - panels.first) * t_.panel;
    run_in(c_.lanes, FinishKept{c_, kept_, o_.bias ? o_.bias + first : nullptr, width,
                            o_.result + first_pixel_ * c_.outputs + first, pixels_,
                            std::min(width, c_.outputs_of_group() - in_group)});
  }

  const DirectConvolution& c_;
  const DirectTasks& t_;
  const DirectOperands& o_;
  std::size_t group_ = 0, first_pixel_ = 0, pixels_ = 0, first_kept_ = 0;
  alignas(64) float windows_[window_numbers];
  alignas(64) float kept_[kept_numbers];
};

void pack_panels(const DirectConvolution& c, std::span<const float> weights, float* packed) {
  const DirectTasks tasks(c);
  const std::size_t taps = c.taps(), channels = c.channels_of_group();
  for (std::size_t output = 0; output < c.outputs; ++output) {
    const std::size_t in_group = output % c.outputs_of_group();
    const std::size_t panel = output / c.outputs_of_group() * tasks.panels + in_group / tasks.panel;
    float* const to = packed + panel * tasks.depth * tasks.panel + in_group % tasks.panel;
    for (std::size_t tap = 0; tap < taps; ++tap)
      for (std::size_t i = 0; i < channels; ++i)
        to[(tap * channels + i) * tasks.panel] = weights[(output * channels + i) * taps + tap];
  }
}

}  // namespace

std::size_t packed_size(const DirectConvolution& c) {
  if (is_depthwise(c)) return depthwise_weights(c) * sizeof(float);
  const DirectTasks tasks(c);
  return c.groups * tasks.panels * tasks.depth * tasks.panel * sizeof(float);
}

std::string form_of_weights(const DirectConvolution& c) {
  return fmt::format("direct 1 {} {} {} {} {}", c.lanes, c.outputs, c.channels, c.groups, c.taps());
}

void pack_weights(const DirectConvolution& c, std::span<const float> weights,
                  std::span<std::byte> to) {
  std::fill(to.begin(), to.end(), std::byte{0});
  auto* const packed = reinterpret_cast<float*>(to.data());
  is_depthwise(c) ? pack_depthwise(c, weights, packed) : pack_panels(c, weights, packed);
}

void convolve(const DirectConvolution& c, const DirectOperands& operands) {
  if (is_depthwise(c)) return convolve_depthwise(c, operands);
  if (skips_padding(c)) return convolve_tap_by_tap(c, operands);
  const DirectTasks tasks(c);
  const auto count = static_cast<std::ptrdiff_t>(tasks.count(c));
#if defined(_OPENMP)
#pragma omp parallel for schedule(static) if (count > 1)
#endif
  for (std::ptrdiff_t i = 0; i < count; ++i)
    DirectTask(c, tasks, operands).run(static_cast<std::size_t>(i));
}

}  // namespace millrace::kernels
